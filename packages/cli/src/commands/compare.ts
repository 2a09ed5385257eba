/** `epsim compare`: the same tokens and seeds under several settings, with how sure the differences are. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Measured } from '@epsim/engine';
import {
  comparisonCharts,
  comparisonHtml,
  comparisonMarkdown,
  drawCharts,
  terminalComparison,
} from '@epsim/report';
import { type ComparedRuns, type Comparison, compareRuns, makeFolder } from '@epsim/results';
import { type Command, Option } from 'commander';
import { UsageError } from '../failure.js';
import { inParallel, openMeasuring } from '../measuring.js';
import { ledgersOf } from '../model-ledger.js';
import { readPoints, type ScenarioPoint } from '../points.js';
import { rebalanceSentences } from '../rebalance-benefit.js';
import { redisUrl } from '../redis-url.js';
import { type Terminal, terminal } from '../terminal.js';
import { studyText, trainingStudy, writeStudy } from '../training-study.js';
import { nameOfPoint } from '../variations.js';
import {
  type ClusterOptions,
  integer,
  interruptSignal,
  type OutputOptions,
  withCluster,
  withOutput,
  withSet,
  withVary,
} from './common.js';

interface CompareOptions extends OutputOptions, ClusterOptions {
  readonly vary: readonly string[];
  readonly set: readonly string[];
  readonly seeds: number;
  readonly out?: string;
  readonly study?: 'training';
}

export function compareCommand(program: Command): void {
  const command = program.command('compare').argument('[scenario]', 'a YAML or JSON file; none for a study');
  withCluster(withOutput(withVary(withSet(command))))
    .summary('the same tokens under several settings, with confidence intervals')
    .description(
      'Runs every combination of the varied values on the same tokens, repeats over seeds, and prints means, 95 % intervals and paired differences against the first.',
    )
    .addOption(
      new Option('--study <name>', 'train small models under each way to balance them').choices(['training']),
    )
    .option('--seeds <n>', 'how many seeds, from the scenario seed upwards', integer(1), 5)
    .option('--out <dir>', 'folder for comparison.json, .md and .html, and charts')
    .addHelpText(
      'after',
      '\nExamples:\n  epsim compare scenarios/k2-vs-k3.yaml\n  epsim compare scenarios/k3-quickstart.yaml --vary routing.policy=top-k,sign-bias,quantile --seeds 3\n  epsim compare --study training --out runs/study',
    )
    .action(compare);
}

async function compare(path: string | undefined, options: CompareOptions): Promise<void> {
  const term = terminal(options.quiet === true);
  if (options.study !== undefined) {
    if (path !== undefined || options.vary.length > 0) {
      throw new UsageError('--study: trains models of its own; leave out the scenario and --vary');
    }
    return study(term, options);
  }
  if (path === undefined) throw new UsageError('compare: no scenario; name a file, or --study training');
  const { vary, points } = readPoints(path, options.set, options.vary);
  if (vary.includes('seed')) {
    throw new UsageError('vary: seed: all rows share their seeds; say how many with --seeds');
  }
  const rows = await measured(points, options, term);
  const comparison = compareRuns(vary, rows, ledgersOf(points));
  if (options.out !== undefined) await writeComparison(comparison, options.out);
  const sentences = rebalanceSentences(rows);
  if (options.json) {
    term.answer(JSON.stringify(sentences.length > 0 ? { ...comparison, sentences } : comparison, null, 2));
    return;
  }
  const tables = terminalComparison(comparison, { width: term.width, colour: term.colour });
  term.answer([tables, ...sentences].join('\n'));
}

/** Runs every point with every seed: a row per point, its runs in the order of the seeds. */
async function measured(
  points: readonly ScenarioPoint[],
  options: CompareOptions,
  term: Terminal,
): Promise<ComparedRuns[]> {
  const measuring = await openMeasuring({
    redis: options.redis === undefined ? undefined : await redisUrl(options.redis, term.note),
    ...{ name: points[0].scenario.name, note: term.note },
    ...{ patienceMs: options.patience * 1000, pointMs: options.pointLimit * 1000 },
  });
  const { signal, release } = interruptSignal(term.note);
  const total = points.reduce((sum, { scenario: s }) => sum + s.steps * s.layers, 0) * options.seeds;
  const progress = term.progress(total, 'layers');
  let done = 0;
  const runs: Measured[] = [];
  const each = points.flatMap((point) => Array.from({ length: options.seeds }, (_, k) => ({ ...point, k })));
  try {
    await inParallel(each, measuring.width, async ({ values, scenario, readFile, k }, at) => {
      const seeded = { ...scenario, seed: scenario.seed + k };
      const onRecord = () => progress.advance(++done, nameOfPoint(values));
      runs[at] = await measuring.measure(seeded, readFile, signal, onRecord);
    });
  } finally {
    progress.stop();
    release();
    await measuring.close();
  }
  return points.map(({ values }, i) => {
    const own = runs.slice(i * options.seeds, (i + 1) * options.seeds);
    return { values, summaries: own.map((r) => r.summary), records: own.map((r) => r.records) };
  });
}

async function study(term: Terminal, options: CompareOptions): Promise<void> {
  const { signal, release } = interruptSignal(term.note);
  try {
    const { result, source } = await trainingStudy(options.seeds, term, signal);
    if (options.out !== undefined) await writeStudy(result, source, options.out);
    term.answer(options.json ? JSON.stringify(result, null, 2) : studyText(result));
  } finally {
    release();
  }
}

async function writeComparison(comparison: Comparison, dir: string): Promise<void> {
  makeFolder(dir);
  writeFileSync(join(dir, 'comparison.json'), `${JSON.stringify(comparison, null, 2)}\n`);
  await drawCharts(comparisonCharts, comparison, dir);
  writeFileSync(join(dir, 'comparison.md'), comparisonMarkdown(comparison));
  writeFileSync(join(dir, 'comparison.html'), comparisonHtml(comparison));
}
