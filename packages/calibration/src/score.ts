/**
 * Scores the shipped profiles against tables of measurements.
 * The one idea: a row that no profile was fitted for is predicted all the same, with borrowed fractions, and
 * a row that cannot be predicted is counted with its reason.
 */
import {
  byProfile,
  errorsOf,
  groupingOf,
  groupKinds,
  type LeftOut,
  leaveGroupOut,
  REFIT,
} from './calibrate.js';
import type { Experiment, SkippedValues } from './experiment.js';
import { type MeasurementFile, measurementsIn } from './measurements.js';
import { relativeValues, shippedValues } from './profiles/shipped.js';
import { median, summarise } from './statistics.js';

export interface ScoredRow {
  readonly label: string;
  readonly profile: string;
  /** Nanoseconds, or bytes per second where only a bandwidth was published. */
  readonly measured: number;
  readonly predicted: number;
  /** predicted / measured - 1 */
  readonly error: number;
}

export interface ProfileScore {
  readonly profile: string;
  readonly predictions: number;
  readonly medianError: number | null;
  readonly leaveGroupOutMedianError: number | null;
  readonly groupedBy: string | null;
  readonly borrowedFrom: string | null;
}

/** Median error when whole groups of one kind are left out of the fit. */
export interface LeaveOutScore {
  /** 'ep', 'tokens', 'hidden', ..., or 'system': predicted with the profile of the nearest other system. */
  readonly by: string;
  readonly predictions: number;
  readonly medianError: number;
}

/** Values that a table states more than once for the same case: no model can be nearer than they are to each other. */
export interface RepeatScore {
  /** Cases with more than one measured value. */
  readonly cases: number;
  /** Median over these cases of largest / smallest - 1. */
  readonly medianSpread: number;
}

export interface TableScore {
  readonly file: string;
  /** Lines of the table with at least one prediction, and lines with none. */
  readonly rows: number;
  readonly skippedRows: number;
  /** Measured values that were predicted and scored; a line may hold several. */
  readonly predictions: number;
  /** Measured values that were not, by reason. */
  readonly skipped: readonly SkippedValues[];
  readonly medianError: number | null;
  readonly p90Error: number | null;
  readonly bias: number | null;
  /** Over rows predicted by a fit that did not see their degree, or their next finer group. */
  readonly leaveGroupOutMedianError: number | null;
  /** One line per kind of groups that was left out; the degree and other systems, or all kinds if asked for. */
  readonly leaveOut: readonly LeaveOutScore[];
  /** Null where the table states no case twice. */
  readonly repeats: RepeatScore | null;
  readonly worstRows: readonly ScoredRow[];
  readonly profiles: readonly ProfileScore[];
  /** Every scored row, for a picture of predicted against measured. */
  readonly points: readonly ScoredRow[];
}

export interface ScoreOptions {
  /**
   * Refit without whole groups: 'degree' leaves out the coarsest kind in which a profile's rows differ, 'all'
   * every kind. Seconds for thousands of rows. 'degree' when absent.
   */
  readonly leaveOut?: 'none' | 'degree' | 'all';
  readonly worstRows?: number;
}

function scoreRows(experiments: readonly Experiment[], values: readonly number[]): ScoredRow[] {
  return experiments.map((experiment) => {
    const predicted = experiment.predict(values);
    const { label, profile, measured } = experiment;
    return { label, profile, measured, predicted, error: predicted / measured - 1 };
  });
}

interface ProfileResult {
  readonly score: ProfileScore;
  readonly lines: readonly number[];
  readonly points: readonly ScoredRow[];
  /** The headline: the coarsest kind of groups left out. */
  readonly degree: LeftOut | null;
  readonly leftOut: readonly LeftOut[];
}

/** Every refit that the options ask for; the degree's first. */
function leftOutOf(experiments: readonly Experiment[], options: ScoreOptions): LeftOut[] {
  const { leaveOut = 'degree' } = options;
  const degree = groupingOf(experiments);
  if (leaveOut === 'none' || degree < 0) return [];
  const others = leaveOut === 'all' ? groupKinds(experiments).filter((kind) => kind !== degree) : [];
  return [degree, ...others]
    .map((kind) => leaveGroupOut(experiments, kind, REFIT))
    .filter((left): left is LeftOut => left !== null);
}

function scoreProfile(
  profile: string,
  experiments: readonly Experiment[],
  options: ScoreOptions,
): ProfileResult | null {
  const { model } = experiments[0] as Experiment;
  const shipped = shippedValues(profile, model);
  if (shipped === null) return null;
  const points = scoreRows(experiments, shipped.values);
  const leftOut = leftOutOf(experiments, options);
  const degree = leftOut[0] ?? null;
  const relative = relativeValues(profile, model);
  if (relative !== null) leftOut.push({ by: 'system', errors: errorsOf(experiments, relative.values) });
  return {
    points,
    lines: experiments.map((experiment) => experiment.line),
    degree,
    leftOut,
    score: {
      profile,
      predictions: points.length,
      medianError: summarise(points.map((point) => point.error)).medianError,
      leaveGroupOutMedianError: degree === null ? null : medianSize(degree.errors),
      groupedBy: degree?.by ?? null,
      borrowedFrom: shipped.borrowedFrom,
    },
  };
}

function medianSize(errors: readonly number[]): number {
  return median(errors.map(Math.abs));
}

/** Errors of all profiles joined by what was left out. */
function joinLeftOut(results: readonly ProfileResult[]): LeaveOutScore[] {
  const kinds = new Map<string, number[]>();
  for (const { by, errors } of results.flatMap((result) => result.leftOut)) {
    kinds.set(by, [...(kinds.get(by) ?? []), ...errors]);
  }
  return [...kinds].map(([by, errors]) => ({
    by,
    predictions: errors.length,
    medianError: medianSize(errors),
  }));
}

/** How far apart the values of one case are; null when every case was measured once. */
function repeatsOf(points: readonly ScoredRow[]): RepeatScore | null {
  const cases = new Map<string, number[]>();
  for (const { profile, label, measured } of points) {
    const key = `${profile} ${label}`;
    cases.set(key, [...(cases.get(key) ?? []), measured]);
  }
  const spreads = [...cases.values()]
    .filter((values) => values.length > 1)
    .map((values) => Math.max(...values) / Math.min(...values) - 1);
  return spreads.length === 0 ? null : { cases: spreads.length, medianSpread: median(spreads) };
}

function scoreTable(file: MeasurementFile, options: ScoreOptions): TableScore {
  const { reading, table } = measurementsIn(file);
  const skipped: SkippedValues[] = [...(reading?.skipped ?? [])];
  if (reading === null) {
    skipped.push({ reason: 'no time model for this kind of table', values: table?.rows.length ?? 0 });
  }
  const results: ProfileResult[] = [];
  for (const [profile, experiments] of byProfile(reading?.experiments ?? [])) {
    const result = scoreProfile(profile, experiments, options);
    if (result === null) skipped.push({ reason: `no profile for ${profile}`, values: experiments.length });
    else results.push(result);
  }
  const points = results.flatMap((result) => result.points);
  const degree = results.flatMap((result) => result.degree?.errors ?? []);
  const worst = [...points].sort((a, b) => Math.abs(b.error) - Math.abs(a.error));
  const { rows: predictions, ...errors } = summarise(points.map((point) => point.error));
  const rows = new Set(results.flatMap((result) => result.lines)).size;
  const lines = (table?.rows.length ?? 0) + (table?.broken.length ?? 0);
  return {
    file: file.name,
    rows,
    skippedRows: lines - rows,
    predictions,
    ...errors,
    skipped,
    leaveGroupOutMedianError: degree.length > 0 ? medianSize(degree) : null,
    leaveOut: joinLeftOut(results),
    repeats: repeatsOf(points),
    worstRows: worst.slice(0, options.worstRows ?? 5),
    profiles: results.map((result) => result.score),
    points,
  };
}

/** One score per file, in their order. Files of an unknown kind have no rows and say so. */
export function scoreTables(
  files: readonly MeasurementFile[],
  options: ScoreOptions = {},
): readonly TableScore[] {
  return files.map((file) => scoreTable(file, options));
}
