/**
 * Whole shares of a total: what a perfectly balanced load is when the mean is not whole.
 */

/** `total` divided over `count` as evenly as it goes, [count]; the first ones take what is left over. */
export function evenShares(total: number, count: number): Int32Array {
  const least = Math.floor(total / count);
  const rest = total - least * count;
  return Int32Array.from({ length: count }, (_, i) => least + (i < rest ? 1 : 0));
}
