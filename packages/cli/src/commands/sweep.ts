/** `epsim sweep`: a grid of scenarios, one line per finished point, resumable after anything. */
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { comparedFields, makeFolder, type Summary, summaryNumber } from '@epsim/results';
import { resolvedYaml } from '@epsim/spec';
import type { Command } from 'commander';
import { causeOfStop, Interrupted, Stopped, UsageError } from '../failure.js';
import { inParallel, openMeasuring } from '../measuring.js';
import { readPoints } from '../points.js';
import { redisUrl } from '../redis-url.js';
import { type Terminal, terminal } from '../terminal.js';
import { nameOfPoint, type Point } from '../variations.js';
import {
  type ClusterOptions,
  interruptSignal,
  type OutputOptions,
  withCluster,
  withOutput,
  withSet,
  withVary,
} from './common.js';

interface SweepOptions extends OutputOptions, ClusterOptions {
  readonly vary: readonly string[];
  readonly set: readonly string[];
  readonly out?: string;
}

interface FinishedPoint {
  /** Hash of the point's resolved scenario: a line counts only for the very same point. */
  readonly key: string;
  readonly values: Point;
  readonly summary: Summary;
}

export function sweepCommand(program: Command): void {
  const command = program.command('sweep').argument('<scenario>', 'a YAML or JSON file');
  withCluster(withOutput(withVary(withSet(command))))
    .summary('a grid of scenarios, resumable')
    .description(
      'Plans and times every combination of the varied values and keeps one line per finished point in points.jsonl. Started again with the same folder it does only what is missing.',
    )
    .option('--out <dir>', 'folder of the sweep (default: runs/<name of the scenario>-sweep)')
    .addHelpText(
      'after',
      '\nExample:\n  epsim sweep scenarios/k3-quickstart.yaml --vary cluster.ranks=8,16,32 --vary routing.policy=top-k,quantile --set cluster.preset=gb200-nvl72',
    )
    .action(sweep);
}

async function sweep(path: string, options: SweepOptions): Promise<void> {
  const term = terminal(options.quiet === true);
  const wanted = readPoints(path, options.set, options.vary).points.map((point) => {
    const scenario = { ...point.scenario, carry: null };
    const key = createHash('sha256').update(resolvedYaml(scenario)).digest('hex').slice(0, 16);
    return { ...point, key, scenario };
  });
  const dir = options.out ?? join('runs', `${wanted[0].scenario.name}-sweep`);
  makeFolder(dir);
  const file = join(dir, 'points.jsonl');
  const finished = finishedPoints(file);
  const missing = [...new Map(wanted.map((point) => [point.key, point])).values()].filter(
    ({ key }) => !finished.has(key),
  );
  const measuring = await openMeasuring({
    redis: options.redis === undefined ? undefined : await redisUrl(options.redis, term.note),
    ...{ name: wanted[0].scenario.name, note: term.note },
    ...{ patienceMs: options.patience * 1000, pointMs: options.pointLimit * 1000 },
  });
  const { signal, release } = interruptSignal(term.note);
  const progress = term.progress(wanted.length, 'points');
  try {
    await inParallel(missing, measuring.width, async ({ key, values, scenario, readFile }) => {
      progress.advance(finished.size, nameOfPoint(values));
      const { summary } = await measuring.measure(scenario, readFile, signal);
      finished.set(key, { key, values, summary });
      appendFileSync(file, `${JSON.stringify({ key, values, summary })}\n`);
    });
  } catch (thrown) {
    const cause = thrown instanceof Interrupted ? 'interrupted' : causeOfStop(thrown);
    if (cause === null) throw thrown;
    const done = wanted.filter(({ key }) => finished.has(key)).length;
    const kept = `${done} of ${wanted.length} points are finished and kept in ${file}; run the same command again for the rest`;
    throw thrown instanceof Interrupted
      ? new Interrupted(`${cause}: ${kept}`)
      : new Stopped(`${cause}; ${kept}`);
  } finally {
    progress.stop();
    release();
    await measuring.close();
  }
  writeResult(
    term,
    options,
    dir,
    wanted.map(({ key }) => finished.get(key)!),
  );
}

/** Finished points by key. A last line that was cut off by a crash is left out, and cut off the file. */
function finishedPoints(file: string): Map<string, FinishedPoint> {
  if (!existsSync(file)) return new Map();
  const text = readFileSync(file, 'utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (whole.length < text.length) writeFileSync(file, whole);
  const points = new Map<string, FinishedPoint>();
  whole.split('\n').forEach((line, i) => {
    if (line === '') return;
    try {
      const point = JSON.parse(line) as FinishedPoint;
      points.set(point.key, point);
    } catch {
      throw new UsageError(`${file}:${i + 1}: not a line of a sweep; name another --out`);
    }
  });
  return points;
}

function writeResult(
  term: Terminal,
  options: SweepOptions,
  dir: string,
  points: readonly FinishedPoint[],
): void {
  const vary = Object.keys(points[0].values);
  const rows = points.map(({ values, summary }) => ({
    values,
    measures: Object.fromEntries(
      comparedFields.flatMap((field) => {
        const value = summaryNumber(summary, field);
        return value === null ? [] : [[field, value]];
      }),
    ),
  }));
  const columns = comparedFields.filter((field) => rows.some((row) => field in row.measures));
  const csv = [
    [...vary, ...columns].join(','),
    ...rows.map((row) =>
      [...vary.map((name) => quoted(row.values[name])), ...columns.map((c) => row.measures[c] ?? '')].join(
        ',',
      ),
    ),
  ].join('\n');
  writeFileSync(join(dir, 'sweep.csv'), `${csv}\n`);
  const result = { vary, rows };
  writeFileSync(join(dir, 'sweep.json'), `${JSON.stringify(result, null, 2)}\n`);
  if (options.json) term.answer(JSON.stringify(result, null, 2));
  else term.answer(`${csv}\n\n${points.length} points in ${dir}`);
}

function quoted(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
