/**
 * MaxVio, the measure that balancing policies are held to, and what chance alone leaves of it.
 * All other measures of a load are taken in results.
 */

/**
 * MaxVio = max load / mean load - 1 that perfectly balanced random assignment would still show,
 * about sqrt(2 ln E / tokens per expert): the largest of E normal deviates with variance 1 / mean.
 * `tokensPerExpert` is the mean load, tokens x topK / expertCount. Throws RangeError when it is not positive.
 */
export function maxVioFloor(expertCount: number, tokensPerExpert: number): number {
  if (!(expertCount >= 1) || !(tokensPerExpert > 0)) {
    throw new RangeError(`no sampling floor for ${tokensPerExpert} tokens on each of ${expertCount} experts`);
  }
  return Math.sqrt((2 * Math.log(expertCount)) / tokensPerExpert);
}

/** MaxVio of loads, [expertCount]: (max - mean) / mean, or 0 when there is no load at all. */
export function maxVioOf(loads: ArrayLike<number>): number {
  let sum = 0;
  let max = 0;
  for (let i = 0; i < loads.length; i++) {
    sum += loads[i];
    if (loads[i] > max) max = loads[i];
  }
  return sum > 0 ? (max * loads.length) / sum - 1 : 0;
}
