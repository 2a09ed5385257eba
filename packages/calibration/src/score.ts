/**
 * Scores the shipped profiles against tables of measurements.
 * The one idea: a row that no profile was fitted for is predicted all the same, with borrowed fractions, and
 * a row that cannot be predicted is counted with its reason.
 */
import { byProfile, errorsOf, leaveGroupOutErrors, REFIT } from './calibrate.js';
import type { Experiment, SkippedRows } from './experiment.js';
import { type MeasurementFile, measurementsIn } from './measurements.js';
import { shippedValues } from './profiles/shipped.js';
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
  readonly rows: number;
  readonly medianError: number | null;
  readonly leaveGroupOutMedianError: number | null;
  readonly groupedBy: string | null;
  readonly borrowedFrom: string | null;
}

export interface TableScore {
  readonly file: string;
  /** Predictions that were scored; a line of a table may hold several. */
  readonly rows: number;
  readonly skippedRows: number;
  readonly skipped: readonly SkippedRows[];
  readonly medianError: number | null;
  readonly p90Error: number | null;
  readonly bias: number | null;
  /** Over rows predicted by a fit that did not see their degree, or their next finer group. */
  readonly leaveGroupOutMedianError: number | null;
  readonly worstRows: readonly ScoredRow[];
  readonly profiles: readonly ProfileScore[];
  /** Every scored row, for a picture of predicted against measured. */
  readonly points: readonly ScoredRow[];
}

export interface ScoreOptions {
  /** Refit without each group in turn; several seconds for thousands of rows. */
  readonly leaveOut?: boolean;
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
  readonly points: readonly ScoredRow[];
  readonly leftOut: readonly number[];
}

function scoreProfile(
  profile: string,
  experiments: readonly Experiment[],
  leaveOut: boolean,
): ProfileResult | null {
  const shipped = shippedValues(profile, (experiments[0] as Experiment).model);
  if (shipped === null) return null;
  const points = scoreRows(experiments, shipped.values);
  const refit = leaveOut ? leaveGroupOutErrors(experiments, REFIT) : null;
  const leftOut = (refit?.errors ?? []).map(Math.abs);
  return {
    points,
    leftOut,
    score: {
      profile,
      rows: points.length,
      medianError: summarise(errorsOf(experiments, shipped.values)).medianError,
      leaveGroupOutMedianError: leftOut.length > 0 ? median(leftOut) : null,
      groupedBy: refit?.groupedBy ?? null,
      borrowedFrom: shipped.borrowedFrom,
    },
  };
}

function scoreTable(file: MeasurementFile, options: ScoreOptions): TableScore {
  const { reading, table } = measurementsIn(file);
  const skipped: SkippedRows[] = [...(reading?.skipped ?? [])];
  if (reading === null) {
    skipped.push({ reason: 'no time model for this kind of table', rows: table?.rows.length ?? 0 });
  }
  const points: ScoredRow[] = [];
  const leftOut: number[] = [];
  const profiles: ProfileScore[] = [];
  for (const [profile, experiments] of byProfile(reading?.experiments ?? [])) {
    const result = scoreProfile(profile, experiments, options.leaveOut ?? true);
    if (result === null) {
      skipped.push({ reason: `no profile for ${profile}`, rows: experiments.length });
      continue;
    }
    points.push(...result.points);
    leftOut.push(...result.leftOut);
    profiles.push(result.score);
  }
  const worst = [...points].sort((a, b) => Math.abs(b.error) - Math.abs(a.error));
  return {
    file: file.name,
    ...summarise(points.map((point) => point.error)),
    skippedRows: skipped.reduce((sum, part) => sum + part.rows, 0),
    skipped,
    leaveGroupOutMedianError: leftOut.length > 0 ? median(leftOut) : null,
    worstRows: worst.slice(0, options.worstRows ?? 5),
    profiles,
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
