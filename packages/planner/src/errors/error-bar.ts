/**
 * The error bar of a planned figure: what whole systems were mispredicted by, widened where the parts of a step are
 * less certain than those of the systems that were scored.
 * One idea: a bar is an order statistic of published errors, the one that would cover the next figure if it were
 * drawn like them (split conformal prediction: Lei et al., 2018), times how much less certain this plan's parts are.
 */
import type { StepParts } from '../step-time.js';
import type { PartErrors } from './part-errors.js';
import { scoredRows } from './scored-rows.js';

/** A published figure as it was predicted with its source left out of every fit. */
export interface ScoredFigure {
  readonly source: string;
  readonly phase: 'prefill' | 'decode';
  /** predicted / published - 1. */
  readonly error: number;
  /** Error that the parts of its step come to, time-weighted. */
  readonly partsError: number;
}

export interface ErrorBar {
  /** Half of the figures like this one lie within so much of it, and nine tenths: fractions. */
  readonly half: number;
  readonly nineTenths: number;
  /** What the errors of the parts come to, and how many times those of scored systems; at least 1 time. */
  readonly partsError: number;
  readonly widening: number;
  readonly dominant: DominantPart;
}

/** The part of a step that adds most to its uncertainty. */
export interface DominantPart {
  readonly part: keyof StepParts;
  /** Share of the step's time. */
  readonly share: number;
  readonly relError: number;
  readonly source: string;
}

/** What the scored figures come to. */
export interface EndToEndError {
  readonly half: number;
  readonly nineTenths: number;
  /** Median over the figures of what their parts come to. */
  readonly partsError: number;
}

/**
 * The smallest of the values that at least `share` of a next value drawn like them lie below: the k-th smallest,
 * k = share x (n + 1) rounded up, and the largest where n is too small to say.
 */
export function coveringQuantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length, Math.ceil(share * (sorted.length + 1))) - 1];
}

/** Error of whole systems, each figure's brought to the certainty of the median one where it is less certain. */
export function endToEndError(rows: readonly ScoredFigure[] = scoredRows): EndToEndError {
  const partsError = coveringQuantile(
    rows.map((row) => row.partsError),
    0.5,
  );
  const errors = rows.map((row) => Math.abs(row.error) / wideningOf(row.partsError, partsError));
  return {
    half: coveringQuantile(errors, 0.5),
    nineTenths: coveringQuantile(errors, 0.9),
    partsError,
  };
}

/** Never below 1: parts that are more certain than those of scored systems do not make a whole more certain. */
export function wideningOf(partsError: number, scored: number): number {
  return Math.max(1, partsError / scored);
}

const shipped = endToEndError();
/** What a phase that was never scored deserves, as parts outside their range do. */
const UNSCORED = 2;

/** The bar of a step; `scored` is false for phases of which nothing was published to hold it against. */
export function errorBarOf(parts: StepParts, errors: PartErrors, scored = true): ErrorBar {
  const { error, dominant } = partsErrorOf(parts, errors);
  const widening = wideningOf(error, shipped.partsError) * (scored ? 1 : UNSCORED);
  const { half, nineTenths } = shipped;
  return { half: widening * half, nineTenths: widening * nineTenths, partsError: error, widening, dominant };
}

/** Time-weighted error of the parts of a step, as if all were off in one direction, and the part that adds most. */
export function partsErrorOf(
  parts: StepParts,
  errors: PartErrors,
): { readonly error: number; readonly dominant: DominantPart } {
  const names = Object.keys(parts) as (keyof StepParts)[];
  const total = names.reduce((ns, name) => ns + parts[name], 0);
  const each = names.map((part) => ({ part, share: parts[part] / total, ...errors[part] }));
  const weight = ({ share, relError }: DominantPart) => share * relError;
  return {
    error: each.reduce((sum, one) => sum + weight(one), 0),
    dominant: each.reduce((most, one) => (weight(one) > weight(most) ? one : most)),
  };
}

/** The bar of what two steps make together, `share` of it by the second: as wide as both are together. */
export function joinedBar(a: ErrorBar, b: ErrorBar, share: number): ErrorBar {
  const mean = (key: 'half' | 'nineTenths' | 'partsError' | 'widening') =>
    (1 - share) * a[key] + share * b[key];
  const dominant = (1 - share) * a.partsError >= share * b.partsError ? a.dominant : b.dominant;
  return {
    ...{ half: mean('half'), nineTenths: mean('nineTenths') },
    ...{ partsError: mean('partsError'), widening: mean('widening'), dominant },
  };
}
