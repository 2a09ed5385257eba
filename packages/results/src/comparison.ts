/**
 * Several scenarios on the same tokens and seeds, side by side: the JSON of `epsim compare`.
 * One idea: a difference is taken seed by seed before it is averaged, because both sides saw the same tokens;
 * that interval is far narrower than the two intervals side by side suggest.
 */
import type { StepRecord } from '@epsim/spec';
import { z } from 'zod';
import { recordsBySteps, sortedLoadCurve, stepCurves } from './curves.js';
import { meanInterval } from './interval.js';
import type { Summary } from './summary.js';

const values = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
  .describe('the varied paths and what they were set to');
const means = z.record(z.string(), z.number()).describe('field of summary.json to its mean over seeds');
const ci95 = z
  .record(z.string(), z.tuple([z.number(), z.number()]).nullable())
  .describe('95 % interval [low, high] of each mean by Student t; null with a single seed');

const ledgerSchema = z.strictObject({
  title: z.string(),
  columns: z.array(z.string()).describe('names of what stands side by side'),
  rows: z.array(
    z.strictObject({
      name: z.string(),
      unit: z.enum(['count', 'bytes']).nullable().describe('null for whole numbers and words'),
      values: z.array(z.union([z.number(), z.string()])).describe('one per column'),
    }),
  ),
});

/** Figures that no run makes, side by side. */
export type Ledger = z.infer<typeof ledgerSchema>;

export const comparisonSchema = z.strictObject({
  scenario: z.string(),
  vary: z.array(z.string()).describe('paths that differ between rows'),
  seeds: z.array(z.number()).describe('every row ran once with each'),
  ledgers: z
    .array(ledgerSchema)
    .describe('sizes and memory of the models that are compared; empty where all rows have the same model'),
  rows: z.array(
    z.strictObject({
      values,
      means,
      ci95,
      series: z
        .strictObject({
          loadCurve: z
            .array(z.number())
            .describe('choices per expert in the last step, busiest first, mean over layers and seeds'),
          maxVio: z.array(z.number()).describe('by step, mean over layers and seeds'),
          maxVioFloor: z.array(z.number()).describe('by step: MaxVio of perfectly balanced random routing'),
        })
        .nullable()
        .describe('null when records were not kept'),
    }),
  ),
  pairedDifferences: z
    .array(
      z.strictObject({
        values,
        against: values,
        means,
        ci95,
        differs: z
          .record(z.string(), z.boolean())
          .describe('true when the interval leaves out 0: a difference that seeds alone would rarely make'),
      }),
    )
    .describe('each row minus the first, seed by seed'),
});

export type Comparison = z.infer<typeof comparisonSchema>;
export type VariedValues = z.infer<typeof values>;

/** The fields of a summary that a comparison takes, by path. */
export const comparedFields = [
  'load.maxVio',
  'load.lastStep.maxVio',
  'load.maxVioFloor',
  'load.stepsToFloor',
  'load.maxOverMean',
  'load.meanOverMax',
  'load.maxMinusMeanOverMean',
  'load.starvedExperts',
  'ranks.maxOverMean',
  'ranks.meanOverMax',
  'ranks.maxMinusMeanOverMean',
  'ranks.activatedExperts.mean',
  'bytes.perToken',
  'bytes.scaleUp',
  'bytes.scaleOut',
  'bytes.local',
  'bytes.dedupRatio',
  'routing.droppedFraction',
  'routing.scoreRetention',
  'routing.changedChoices',
  'routing.biasDrift',
  'moves.bytes',
  'moves.ns',
  'timed.stepNs',
  'timed.phases.pre',
  'timed.phases.dispatch',
  'timed.phases.shared',
  'timed.phases.experts',
  'timed.phases.combine',
  'timed.phases.post',
  'timed.relErrorBar',
  'timed.tokensPerSecPerRank',
  'timed.stragglerIdleFraction',
] as const;

/** Sums in another order differ by less than this fraction; that is no difference between rows. */
const ROUNDING = 1e-9;

/** One row's runs, one per seed in the order of the seeds. */
export interface ComparedRuns {
  readonly values: VariedValues;
  readonly summaries: readonly Summary[];
  /** Records of each run, where they were kept. */
  readonly records?: readonly (readonly StepRecord[])[];
}

/**
 * Rows in the order given, the first being what the others are compared with.
 * Throws RangeError when rows did not run with the same seeds, which would make pairs of strangers.
 */
export function compareRuns(
  vary: readonly string[],
  rows: readonly ComparedRuns[],
  ledgers: readonly Ledger[] = [],
): Comparison {
  if (rows.length === 0 || rows[0].summaries.length === 0)
    throw new RangeError('a comparison needs a row with a run');
  const seeds = rows[0].summaries.map((summary) => summary.seed);
  for (const row of rows) {
    const own = row.summaries.map((summary) => summary.seed);
    if (own.join() !== seeds.join()) {
      throw new RangeError(
        `${JSON.stringify(row.values)} ran with seeds [${own}], the first row with [${seeds}]`,
      );
    }
  }
  const samples = rows.map(({ summaries }) => samplesOf(summaries));
  return {
    scenario: rows[0].summaries[0].scenario,
    vary: [...vary],
    seeds,
    ledgers: [...ledgers],
    rows: rows.map((row, i) => ({ values: row.values, ...averaged(samples[i]), series: seriesOf(row) })),
    pairedDifferences: rows.slice(1).map((row, i) => {
      const difference = averaged(subtracted(samples[i + 1], samples[0]));
      const differs = Object.entries(difference.ci95).map(([path, interval]) => [
        path,
        interval !== null && (interval[0] > 0 || interval[1] < 0),
      ]);
      return {
        values: row.values,
        against: rows[0].values,
        ...difference,
        differs: Object.fromEntries(differs),
      };
    }),
  };
}

type Samples = ReadonlyMap<string, readonly number[]>;

/** Values of each field, one per run; fields that a run does not have, such as times of an untimed run, are left out. */
function samplesOf(summaries: readonly Summary[]): Samples {
  const samples = new Map<string, number[]>();
  for (const path of comparedFields) {
    const found = summaries.map((summary) => summaryNumber(summary, path)).filter((value) => value !== null);
    if (found.length === summaries.length) samples.set(path, found);
  }
  return samples;
}

/** The number at a path of a summary such as `load.maxVio`, or null. */
export function summaryNumber(summary: Summary, path: string): number | null {
  let at: unknown = summary;
  for (const key of path.split('.')) at = (at as Record<string, unknown> | null)?.[key] ?? null;
  return typeof at === 'number' ? at : null;
}

function subtracted(samples: Samples, from: Samples): Samples {
  const difference = new Map<string, number[]>();
  for (const [path, own] of samples) {
    const other = from.get(path);
    if (other === undefined) continue;
    difference.set(
      path,
      own.map((value, i) =>
        Math.abs(value - other[i]) <= ROUNDING * Math.abs(other[i]) ? 0 : value - other[i],
      ),
    );
  }
  return difference;
}

function averaged(samples: Samples): Pick<Comparison['rows'][number], 'means' | 'ci95'> {
  const intervals = [...samples].map(([path, own]) => [path, meanInterval(own)] as const);
  return {
    means: Object.fromEntries(intervals.map(([path, { mean }]) => [path, mean])),
    ci95: Object.fromEntries(
      intervals.map(([path, { ci95: interval }]) => [path, interval && [...interval]]),
    ),
  };
}

function seriesOf({ records }: ComparedRuns): Comparison['rows'][number]['series'] {
  if (records === undefined || records.length === 0) return null;
  const curves = records.map(stepCurves);
  return {
    loadCurve: meanCurve(records.map((run) => sortedLoadCurve(recordsBySteps(run).at(-1) ?? []))),
    maxVio: meanCurve(curves.map((curve) => curve.maxVio)),
    maxVioFloor: meanCurve(curves.map((curve) => curve.maxVioFloor)),
  };
}

/** Mean over runs, place by place, over the places that all runs have. */
function meanCurve(curves: readonly (readonly number[])[]): number[] {
  const length = Math.min(...curves.map((curve) => curve.length));
  return Array.from({ length }, (_, i) => curves.reduce((sum, curve) => sum + curve[i], 0) / curves.length);
}
