/** Means with 95 % intervals, by Student's t: right for the handful of seeds that a comparison repeats over. */

/** Two-sided 95 % quantiles of Student's t for 1 to 30 degrees of freedom. */
const T975 = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131,
  2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
];

export interface MeanInterval {
  readonly mean: number;
  /** [low, high], or null for a single value, which says nothing about its spread. */
  readonly ci95: readonly [number, number] | null;
}

/** Mean of `values` and the interval that holds the true mean in 95 of 100 repetitions. Throws RangeError for no values. */
export function meanInterval(values: readonly number[]): MeanInterval {
  const count = values.length;
  if (count === 0) throw new RangeError('values has shape [0]; at least one value is needed');
  const mean = values.reduce((a, b) => a + b, 0) / count;
  if (count === 1) return { mean, ci95: null };
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const half = tQuantile975(count - 1) * Math.sqrt(squares / (count - 1) / count);
  return { mean, ci95: [mean - half, mean + half] };
}

/** Above the table, the expansion of t in 1 / freedom (Abramowitz and Stegun 26.7.5). */
function tQuantile975(freedom: number): number {
  const z = 1.959964;
  return (
    T975[freedom - 1] ??
    z + (z ** 3 + z) / (4 * freedom) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2)
  );
}
