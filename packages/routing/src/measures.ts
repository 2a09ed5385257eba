/**
 * How well balanced a routing could be expected to be, and how soon it was.
 * Loads themselves are measured in results; here is only what chance sets as the mark.
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

/**
 * Index of the first step whose MaxVio is at most factor x floor, or null when none is.
 * `maxVioPerStep` is [steps]; step 0 is the one routed before anything was learned.
 */
export function stepsUntilWithinFloor(
  maxVioPerStep: ArrayLike<number>,
  floor: number,
  factor = 1.5,
): number | null {
  for (let step = 0; step < maxVioPerStep.length; step++) {
    if (maxVioPerStep[step] <= factor * floor) return step;
  }
  return null;
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
