/** `epsim compare`: the same tokens and seeds under several settings, with how sure the differences are. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Measured } from '@epsim/engine';
import { comparisonCharts, comparisonHtml, drawCharts, terminalComparison } from '@epsim/report';
import { type ComparedRuns, type Comparison, compareRuns, makeFolder } from '@epsim/results';
import { type Command, Option } from 'commander';
import { UsageError } from '../failure.js';
import { inParallel, openMeasuring } from '../measuring.js';
import { rebalanceSentences } from '../rebalance-benefit.js';
import { redisUrl } from '../redis-url.js';
import { loadScenario, readerBeside } from '../scenario-file.js';
import { type Terminal, terminal } from '../terminal.js';
import { studyText, trainingStudy, writeStudy } from '../training-study.js';
import { gridOf, nameOfPoint, overridesOf, parseVariation } from '../variations.js';
import {
  type ClusterOptions,
  collect,
  integer,
  interruptSignal,
  type OutputOptions,
  withCluster,
  withOutput,
  withSet,
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
  withCluster(withOutput(withSet(command)))
    .summary('the same tokens under several settings, with confidence intervals')
    .description(
      'Runs every combination of the varied values on the same tokens, repeats over seeds, and prints means, 95 % intervals and paired differences against the first.',
    )
    .option('--vary <path=v1,v2>', 'a field and its values (repeatable)', collect, [])
    .addOption(
      new Option('--study <name>', 'train small models under each way to balance them').choices(['training']),
    )
    .option('--seeds <n>', 'how many seeds, from the scenario seed upwards', integer(1), 5)
    .option('--out <dir>', 'folder for comparison.json, comparison.html and charts')
    .addHelpText(
      'after',
      '\nExample:\n  epsim compare scenarios/k3-quickstart.yaml --vary routing.policy=top-k,sign-bias,quantile --seeds 3\n  epsim compare --study training --out runs/study',
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
  const variations = options.vary.map(parseVariation);
  if (variations.length === 0)
    throw new UsageError('--vary: nothing varies; write --vary routing.policy=top-k,quantile');
  if (variations.some((variation) => variation.path === 'seed')) {
    throw new UsageError('--vary: seed: all rows share their seeds; say how many with --seeds');
  }
  const points = gridOf(variations);
  // Every point is read before the first one runs, so that no mistake is found late.
  const scenarios = points.map((point) => loadScenario(path, [...options.set, ...overridesOf(point)]));
  const measuring = await openMeasuring({
    redis: options.redis === undefined ? undefined : await redisUrl(options.redis, term.note),
    ...{ name: scenarios[0].name, note: term.note },
    ...{ patienceMs: options.patience * 1000, pointMs: options.pointLimit * 1000 },
  });
  const { signal, release } = interruptSignal(term.note);
  const total = scenarios.reduce((sum, s) => sum + s.steps * s.layers, 0) * options.seeds;
  const progress = term.progress(total, 'layers');
  let done = 0;
  const runs: Measured[] = [];
  const each = points.flatMap((point, i) =>
    Array.from({ length: options.seeds }, (_, k) => ({ point, i, k })),
  );
  try {
    await inParallel(each, measuring.width, async ({ point, i, k }, at) => {
      const set = [...options.set, ...overridesOf(point)];
      const scenario = { ...scenarios[i], seed: scenarios[i].seed + k };
      const onRecord = () => progress.advance(++done, nameOfPoint(point));
      runs[at] = await measuring.measure(scenario, readerBeside(path, set), signal, onRecord);
    });
  } finally {
    progress.stop();
    release();
    await measuring.close();
  }
  const rows = points.map((values, i): ComparedRuns => {
    const own = runs.slice(i * options.seeds, (i + 1) * options.seeds);
    return { values, summaries: own.map((r) => r.summary), records: own.map((r) => r.records) };
  });
  const comparison = compareRuns(
    variations.map((variation) => variation.path),
    rows,
  );
  if (options.out !== undefined) await writeComparison(comparison, options.out);
  const sentences = rebalanceSentences(rows);
  if (options.json) {
    term.answer(JSON.stringify(sentences.length > 0 ? { ...comparison, sentences } : comparison, null, 2));
    return;
  }
  const tables = terminalComparison(comparison, { width: term.width, colour: term.colour });
  term.answer([tables, ...sentences].join('\n'));
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
  writeFileSync(join(dir, 'comparison.html'), comparisonHtml(comparison));
}
