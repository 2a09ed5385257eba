/**
 * One experiment from scenario to run folder: simulate, carry, record, summarise, draw.
 * Steps that are finished stay, whatever happens to the rest.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as eventLoopTurn } from 'node:timers/promises';
import { CarrySession, carriedModel, createShardHandler, Simulation } from '@epsim/engine';
import { activeParamCount, paramCount } from '@epsim/model';
import { charts, drawCharts, reportHtml } from '@epsim/report';
import { perfettoTrace, RunFolder, type Summary, summarize, type WhenFolderExists } from '@epsim/results';
import { resolvedYaml, type Scenario, type StepRecord } from '@epsim/spec';
import { inlineShards, type ShardPool, threadShards } from '@epsim/transport';
import { shardEntry } from '@epsim/workers';
import { Interrupted, UsageError } from './failure.js';
import type { Terminal } from './terminal.js';
import { version } from './version.js';

export interface RunRequest {
  readonly scenario: Scenario;
  readonly out: string;
  readonly whenExists: WhenFolderExists;
  /** How rows are carried this time; not part of the experiment, so no result depends on it. */
  readonly transport: 'inline' | 'thread';
  readonly workers: number;
  readonly timed: boolean;
  readonly readFile: (path: string) => Uint8Array;
  readonly signal: AbortSignal;
}

export interface RunOutcome {
  readonly summary: Summary;
  readonly dir: string;
}

/** Longest time that one phase of one layer may take before its worker is given up. */
const PHASE_TIMEOUT_MS = 300_000;

/** Runs the scenario. Throws Interrupted, after keeping finished steps, when the signal aborts. */
export async function runScenario(request: RunRequest, terminal: Terminal): Promise<RunOutcome> {
  const { scenario, signal } = request;
  const started = performance.now();
  const carry = carrySession(request);
  const simulation = new Simulation(scenario, {
    readFile: request.readFile,
    timed: request.timed,
    ...(carry ? { carry } : {}),
  });
  const folder = RunFolder.create(request.out, request.whenExists);
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
    await carry?.close();
    folder.close();
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
    buffers: simulation.buffers().map(({ quantile, rows }) => ({ quantile, rows })),
    notes: notesOf(scenario, simulation, carry !== null),
  });
  folder.finish({
    summary,
    scenarioYaml: resolvedYaml(scenario),
    timings: {
      wallMs: Math.round(performance.now() - started),
      transport: carry ? request.transport : null,
      workers: carry ? request.workers : null,
      peakMemoryBytes: process.resourceUsage().maxRSS * 1024,
    },
    rankTraffic: { rankCount: scenario.cluster.rankCount, bytes: simulation.rankTraffic },
    linkUse: simulation.linkUse(),
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
  return { summary, dir: folder.dir };
}

function carrySession({ scenario, transport, workers }: RunRequest): CarrySession | null {
  const { carry, cluster, dispatch, model } = scenario;
  if (!carry) return null;
  const pool: ShardPool =
    transport === 'inline'
      ? inlineShards(createShardHandler())
      : threadShards({ entry: shardEntry, workers, timeoutMs: PHASE_TIMEOUT_MS });
  try {
    return new CarrySession(
      {
        model: carriedModel(model, carry.expertInnerSize, scenario.seed),
        rankCount: cluster.rankCount,
        tokensPerRank: carry.tokensPerRank,
        shardCount: transport === 'inline' ? 1 : workers,
        dispatchFormat: carry.rows === 'wire' ? dispatch.dispatchFormat : 'fp32',
        combineFormat: carry.rows === 'wire' ? dispatch.combineFormat : 'fp32',
        perChoice: dispatch.kind === 'per-expert',
        topK: model.moe.topK,
      },
      pool,
    );
  } catch (thrown) {
    if (thrown instanceof RangeError) throw new UsageError(`carry: ${thrown.message}`);
    throw thrown;
  }
}

function traceOf(simulation: Simulation): string {
  const { events, counters } = simulation.timeline();
  return perfettoTrace(events, counters);
}

/** What a reader of the results must know, one sentence each. */
function notesOf(scenario: Scenario, simulation: Simulation, carried: boolean): string[] {
  const { carry, model, workload, layers, dispatch } = scenario;
  const notes = [...simulation.workload.description, ...model.assumptions];
  const moeLayers = model.layers.filter((layer) => layer.ffn?.kind === 'moe').length;
  if (layers < moeLayers) {
    notes.push(
      `${layers} of the model's ${moeLayers} layers of experts are simulated; times and bytes are theirs alone.`,
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
