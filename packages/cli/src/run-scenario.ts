/**
 * One experiment from scenario to run folder: simulate, carry, record, summarise, draw.
 * Steps that are finished stay, whatever happens to the rest.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as eventLoopTurn } from 'node:timers/promises';
import { Simulation } from '@epsim/engine';
import { activeParamCount, paramCount } from '@epsim/model';
import { charts, drawCharts, reportHtml } from '@epsim/report';
import { perfettoTrace, RunFolder, type Summary, summarize, type WhenFolderExists } from '@epsim/results';
import { resolvedYaml, type Scenario, type StepRecord } from '@epsim/spec';
import { type Carrying, type CarryRequest, openCarrying, resumedCarrying } from './carrying.js';
import { causeOfStop, Interrupted, Stopped } from './failure.js';
import type { Terminal } from './terminal.js';
import { version } from './version.js';

export interface RunRequest extends CarryRequest {
  readonly out: string;
  readonly whenExists: WhenFolderExists;
  readonly timed: boolean;
  readonly readFile: (path: string) => Uint8Array;
  readonly signal: AbortSignal;
}

export interface RunOutcome {
  readonly summary: Summary;
  readonly dir: string;
  /** Wall-clock figures, as in timings.json. */
  readonly timings: Readonly<Record<string, unknown>>;
}

/**
 * Runs the scenario. Throws Interrupted, after keeping finished steps, when the signal aborts, and Stopped when a
 * worker, Redis or the disk fails beyond recovery; what is finished stays on disk and can be resumed.
 */
export async function runScenario(request: RunRequest, terminal: Terminal): Promise<RunOutcome> {
  const started = performance.now();
  const opened = await openCarrying(request, terminal.note);
  let folder: RunFolder | null = null;
  try {
    folder = RunFolder.create(request.out, request.whenExists);
    const carrying = opened && resumedCarrying(opened, folder.kept);
    return await runInto(folder, carrying, request, terminal, started);
  } catch (thrown) {
    const cause = causeOfStop(thrown);
    if (cause === null) {
      folder?.abandon();
      throw thrown;
    }
    const kept = folder ? `; ${whatIsKept(folder.dir, request.scenario)}` : '';
    throw new Stopped(`${cause}${kept}`);
  } finally {
    await opened?.close();
    folder?.close();
  }
}

function whatIsKept(dir: string, { steps, layers }: Scenario): string {
  const done = RunFolder.read(dir).records.length;
  return `${done} of ${steps * layers} layers are finished and kept in ${dir}: the same command with --resume --out ${dir} does the rest`;
}

async function runInto(
  folder: RunFolder,
  carry: Carrying | null,
  request: RunRequest,
  terminal: Terminal,
  started: number,
): Promise<RunOutcome> {
  const { scenario, signal } = request;
  const simulation = new Simulation(scenario, {
    readFile: request.readFile,
    timed: request.timed,
    ...(carry ? { carry } : {}),
  });
  folder.writeScenario(resolvedYaml(scenario));
  const records: StepRecord[] = [];
  const progress = terminal.progress(scenario.steps * scenario.layers, 'layers');
  try {
    for await (const record of simulation.records()) {
      folder.appendRecord(record);
      records.push(record);
      progress.advance(records.length, `step ${record.step + 1} of ${scenario.steps}`);
      // Signals and the progress bar wait for the event loop; a run of pure arithmetic would starve it.
      await eventLoopTurn();
      if (signal.aborted) break;
    }
  } finally {
    progress.stop();
  }
  const finished = Math.floor(records.length / scenario.layers);
  if (finished === 0) {
    throw new Interrupted(
      `interrupted before the first step was finished; ${folder.dir} holds ${records.length} records`,
    );
  }
  const summary = summarize(scenario, records, {
    version,
    paramCount: paramCount(scenario.model),
    activeParamCount: activeParamCount(scenario.model),
    ...(carry && scenario.carry
      ? { carriedTransport: scenario.carry.transport, carriedWorkers: scenario.carry.workers }
      : {}),
    buffers: simulation.totals.buffers().map(({ quantile, rows }) => ({ quantile, rows })),
    notes: notesOf(scenario, simulation, carry !== null),
  });
  const timings = {
    wallMs: Math.round(performance.now() - started),
    ...(carry ? carry.figures() : { transport: null, workers: null }),
    peakMemoryBytes: process.resourceUsage().maxRSS * 1024,
  };
  folder.finish({
    summary,
    scenarioYaml: resolvedYaml(scenario),
    timings,
    rankTraffic: { rankCount: scenario.cluster.rankCount, bytes: simulation.totals.rankTraffic },
    linkUse: simulation.totals.linkUse(),
    ...(request.timed ? { trace: traceOf(simulation) } : {}),
  });
  const run = RunFolder.read(folder.dir);
  await drawCharts(charts, run, folder.dir);
  writeFileSync(join(folder.dir, 'report.html'), reportHtml(run));
  if (signal.aborted && finished < scenario.steps) {
    throw new Interrupted(
      `interrupted: ${finished} of ${scenario.steps} steps are finished and kept in ${folder.dir}`,
    );
  }
  return { summary, dir: folder.dir, timings };
}

function traceOf(simulation: Simulation): string {
  const { events, counters } = simulation.totals.timeline();
  return perfettoTrace(events, counters);
}

/** What a reader of the results must know, one sentence each. */
function notesOf(scenario: Scenario, simulation: Simulation, carried: boolean): string[] {
  const { carry, model, workload, layers, dispatch } = scenario;
  const notes = [...simulation.workload.description, ...model.assumptions];
  const moeLayers = model.layers.filter((layer) => layer.ffn?.kind === 'moe').length;
  if (layers < moeLayers) {
    notes.push(
      `${layers} of the model's ${moeLayers} layers of experts ${layers === 1 ? 'is' : 'are'} simulated; times and bytes are theirs alone.`,
    );
  }
  if (model.moe.groupCount > 1 && scenario.routing.policy !== 'group-limited') {
    notes.push(
      `The model routes within ${model.moe.topGroupCount} of ${model.moe.groupCount} groups of experts; ${scenario.routing.policy} does not, group-limited does.`,
    );
  }
  if (carry && carried) {
    const factor = model.moe.expertInnerSize / carry.expertInnerSize;
    if (factor !== 1) {
      notes.push(
        `Carried experts have inner size ${carry.expertInnerSize} of ${model.moe.expertInnerSize} (1/${Number(factor.toFixed(2))}); routing, loads and bytes do not depend on it.`,
      );
    }
    if (carry.tokensPerRank < workload.tokensPerRank) {
      notes.push(
        `${carry.tokensPerRank} of ${workload.tokensPerRank} tokens per rank are carried, in the last ${carry.steps} of ${scenario.steps} steps.`,
      );
    }
    if (carry.rows === 'fp32') {
      notes.push(
        `Carried rows are FP32, ${dispatch.dispatchFormat} out and ${dispatch.combineFormat} back in the timed half.`,
      );
    }
    if (dispatch.kind === 'per-node') notes.push('Forwarding inside a node is timed, not carried.');
  }
  return notes;
}
