/** The training study behind `epsim compare --study training`: train, repeat over seeds, tell how sure it is. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as eventLoopTurn } from 'node:timers/promises';
import { drawCharts, type StudySource, studyCharts } from '@epsim/report';
import { makeFolder, meanInterval } from '@epsim/results';
import { type StudyCurve, type StudyMethod, studyMethods, studyOptions, trainUnder } from '@epsim/routing';
import { Interrupted } from './failure.js';
import type { Terminal } from './terminal.js';

/** Figures of a trained model on tokens that it was not trained on. */
const figures = ['loss', 'maxVio', 'starvedExperts'] as const;

export interface StudyResult {
  readonly study: 'training';
  readonly options: Readonly<Record<string, unknown>>;
  readonly seeds: readonly number[];
  /** Held-out figures of each method, and paired differences against the first. */
  readonly rows: readonly StudyRow[];
  readonly pairedDifferences: readonly StudyRow[];
}

interface StudyRow {
  readonly method: StudyMethod;
  readonly means: Readonly<Record<string, number>>;
  readonly ci95: Readonly<Record<string, readonly [number, number] | null>>;
}

export async function trainingStudy(
  seedCount: number,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<{ result: StudyResult; source: StudySource }> {
  const options = studyOptions.parse({});
  const seeds = Array.from({ length: seedCount }, (_, i) => options.seed + i);
  const progress = terminal.progress(seeds.length * studyMethods.length, 'models');
  const curves = new Map<StudyMethod, StudyCurve[]>(studyMethods.map((method) => [method, []]));
  let done = 0;
  try {
    for (const seed of seeds) {
      for (const method of studyMethods) {
        curves.get(method)!.push(trainUnder(method, { ...options, seed }));
        progress.advance(++done, `${method}, seed ${seed}`);
        await eventLoopTurn();
        if (signal.aborted)
          throw new Interrupted(`interrupted: ${done} models were trained; nothing is written`);
      }
    }
  } finally {
    progress.stop();
  }
  const first = curves.get(studyMethods[0])!;
  const row = (method: StudyMethod, against?: readonly StudyCurve[]): StudyRow => {
    const intervals = figures.map((figure) => {
      const own = curves.get(method)!.map((curve) => curve.heldOut[figure]);
      return [
        figure,
        meanInterval(against ? own.map((v, i) => v - against[i].heldOut[figure]) : own),
      ] as const;
    });
    return {
      method,
      means: Object.fromEntries(intervals.map(([figure, { mean }]) => [figure, mean])),
      ci95: Object.fromEntries(intervals.map(([figure, { ci95 }]) => [figure, ci95])),
    };
  };
  const about = `${options.expertCount} experts, top-${options.topK}, ${options.steps} steps of ${options.batchTokens} tokens, ${seeds.length} seeds`;
  return {
    result: {
      study: 'training',
      options,
      seeds,
      rows: studyMethods.map((method) => row(method)),
      pairedDifferences: studyMethods.slice(1).map((method) => row(method, first)),
    },
    source: {
      about,
      methods: studyMethods.map((method) => ({ method, ...meanCurves(curves.get(method)!) })),
    },
  };
}

function meanCurves(curves: readonly StudyCurve[]) {
  const mean = (pick: (curve: StudyCurve) => ArrayLike<number>) =>
    Array.from(
      { length: pick(curves[0]).length },
      (_, i) => curves.reduce((sum, c) => sum + pick(c)[i], 0) / curves.length,
    );
  return {
    loss: mean((c) => c.loss),
    maxVio: mean((c) => c.maxVio),
    starvedExperts: mean((c) => c.starvedExperts),
  };
}

export async function writeStudy(result: StudyResult, source: StudySource, dir: string): Promise<void> {
  makeFolder(dir);
  writeFileSync(join(dir, 'study.json'), `${JSON.stringify(result, null, 2)}\n`);
  await drawCharts(studyCharts, source, dir);
}

/** A line per method, held out, and per difference. */
export function studyText({ rows, pairedDifferences, seeds, options }: StudyResult): string {
  const cell = (row: StudyRow, figure: string, digits: number) => {
    const interval = row.ci95[figure];
    const half = interval ? ` ± ${((interval[1] - interval[0]) / 2).toFixed(digits)}` : '';
    const sure = interval && (interval[0] > 0 || interval[1] < 0);
    return `${row.means[figure].toFixed(digits)}${half}${sure ? ' *' : ''}`.padStart(20);
  };
  const line = (name: string, row: StudyRow) =>
    name.padEnd(22) + cell(row, 'loss', 4) + cell(row, 'maxVio', 3) + cell(row, 'starvedExperts', 1);
  const plain = (row: StudyRow) => line(row.method, row).replaceAll(' *', '  ');
  return [
    `a small mixture of experts, trained ${options.steps} steps; figures on ${options.heldOutTokens} tokens it never saw, ${seeds.length} seeds`,
    `${''.padEnd(22)}${'loss'.padStart(20)}${'MaxVio'.padStart(20)}${'starved experts'.padStart(20)}`,
    ...rows.map(plain),
    '',
    `difference from ${rows[0].method}, seed by seed (* its 95 % interval leaves out 0)`,
    ...pairedDifferences.map((row) => line(row.method, row)),
    '',
    'One layer of regression on made-up kinds of tokens: it shows the direction of an effect, not its size in a language model.',
  ].join('\n');
}
