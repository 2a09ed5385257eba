/**
 * The few statistics that a score needs. Relative errors are fractions of the measured value.
 */

/** The q-quantile, 0 <= q <= 1, interpolated between neighbours; NaN of nothing. */
export function quantile(values: readonly number[], q: number): number {
  if (values.length === 0) return Number.NaN;
  const sorted = Float64Array.from(values).sort();
  const position = (sorted.length - 1) * q;
  const low = Math.floor(position);
  const high = Math.ceil(position);
  const left = sorted[low] as number;
  return left + (position - low) * ((sorted[high] as number) - left);
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export interface ErrorSummary {
  readonly rows: number;
  /** Median and 90th percentile of |predicted / measured - 1|; null without rows. */
  readonly medianError: number | null;
  readonly p90Error: number | null;
  /** Median of predicted / measured - 1: above 0 the model is too slow. */
  readonly bias: number | null;
}

/** Summary of signed relative errors. */
export function summarise(errors: readonly number[]): ErrorSummary {
  if (errors.length === 0) return { rows: 0, medianError: null, p90Error: null, bias: null };
  const sizes = errors.map(Math.abs);
  return {
    rows: errors.length,
    medianError: median(sizes),
    p90Error: quantile(sizes, 0.9),
    bias: median(errors),
  };
}
