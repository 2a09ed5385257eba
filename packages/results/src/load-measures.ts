/**
 * How unevenly a load falls over experts or ranks, in every definition in use, from one array of counts.
 * One idea: a measure belongs to one layer of one step. Loads of different layers are never added first,
 * because two layers that lean opposite ways would cancel to a balance that no rank ever sees.
 * Knows nothing about what is counted.
 */
import type { LoadMeasures } from '@epsim/spec';

/**
 * Measures of `loads`, [entries], counts of choices or tokens.
 * A load of zero everywhere is even: maxOverMean 1, meanOverMax 1, cv 0, gini 0, entropy 1; no measure is ever NaN.
 * Throws RangeError when there are no entries, or one is negative or not finite.
 *
 * Sources: max / mean as Megatron prints it, mean / max as vLLM, SGLang and EPLB ("balancedness"),
 * (max - mean) / mean as TensorRT-LLM and as MaxVio (Wang et al., "Auxiliary-Loss-Free Load Balancing", 2024).
 */
export function loadMeasures(loads: ArrayLike<number>): LoadMeasures {
  const count = loads.length;
  if (count === 0) throw new RangeError('loads has shape [0]; at least one entry is needed');
  const sorted = new Float64Array(count);
  let sum = 0;
  let zeroCount = 0;
  for (let i = 0; i < count; i++) {
    const load = loads[i];
    if (!(load >= 0 && load < Infinity)) {
      throw new RangeError(`loads[${i}] of shape [${count}] is ${load}; a load is finite and not negative`);
    }
    sorted[i] = load;
    sum += load;
    if (load === 0) zeroCount++;
  }
  sorted.sort();
  const min = sorted[0];
  const max = sorted[count - 1];
  const mean = sum / count;
  if (sum === 0) return evenMeasures(0, zeroCount);
  if (min === max) return evenMeasures(min, zeroCount);
  return {
    min,
    mean,
    max,
    maxOverMean: max / mean,
    meanOverMax: mean / max,
    maxMinusMeanOverMean: (max - mean) / mean,
    cv: coefficientOfVariation(sorted, mean),
    gini: giniOfSorted(sorted, sum),
    entropy: normalizedEntropy(sorted, sum),
    zeroCount,
  };
}

/** The measures of a load that is `each` everywhere, exact where sums would round. */
function evenMeasures(each: number, zeroCount: number): LoadMeasures {
  return {
    min: each,
    mean: each,
    max: each,
    maxOverMean: 1,
    meanOverMax: 1,
    maxMinusMeanOverMean: 0,
    cv: 0,
    gini: 0,
    entropy: 1,
    zeroCount,
  };
}

/** Standard deviation of the population over its mean. */
function coefficientOfVariation(loads: Float64Array, mean: number): number {
  let squares = 0;
  for (const load of loads) squares += (load - mean) ** 2;
  return Math.sqrt(squares / loads.length) / mean;
}

/** Gini coefficient of loads in ascending order: 0 when all are equal, (n - 1) / n when one has everything. */
function giniOfSorted(sorted: Float64Array, sum: number): number {
  const count = sorted.length;
  let weighted = 0;
  for (let i = 0; i < count; i++) weighted += (2 * (i + 1) - count - 1) * sorted[i];
  return weighted / (count * sum);
}

/** Shannon entropy of the shares over ln(count): 1 when all are equal, 0 when one has everything. */
function normalizedEntropy(loads: Float64Array, sum: number): number {
  let entropy = 0;
  for (const load of loads) {
    if (load > 0) entropy -= (load / sum) * Math.log(load / sum);
  }
  return entropy / Math.log(loads.length);
}
