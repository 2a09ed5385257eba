/**
 * What a placement makes of a load: choices per slot and per rank, and how even that is.
 * The one idea: replicas share evenly, unless the placement says by quota how they share.
 */
import { NO_EXPERT, type Placement } from '@epsim/spec';

/** Replicas of each expert, [expertCount]. */
export function replicaCounts(placement: Placement): Int32Array {
  const counts = new Int32Array(placement.expertCount);
  for (const expert of placement.slotExpert) if (expert !== NO_EXPERT) counts[expert]++;
  return counts;
}

/**
 * The load of each slot, [slotCount], in the unit of `loads` ([expertCount]). An expert's load is shared in
 * proportion to the quotas of its slots where there are any, evenly otherwise.
 * Throws RangeError when `loads` has another number of experts.
 */
export function slotLoads(placement: Placement, loads: ArrayLike<number>): Float64Array {
  const { slotExpert, slotQuota, expertCount } = placement;
  if (loads.length !== expertCount) {
    throw new RangeError(`loads of ${loads.length} experts for a placement of ${expertCount}`);
  }
  const counts = replicaCounts(placement);
  const quotas = new Float64Array(expertCount);
  if (slotQuota) {
    for (let slot = 0; slot < slotExpert.length; slot++) {
      if (slotExpert[slot] !== NO_EXPERT) quotas[slotExpert[slot]] += slotQuota[slot];
    }
  }
  const out = new Float64Array(slotExpert.length);
  for (let slot = 0; slot < slotExpert.length; slot++) {
    const expert = slotExpert[slot];
    if (expert === NO_EXPERT) continue;
    const share = slotQuota && quotas[expert] > 0 ? slotQuota[slot] / quotas[expert] : 1 / counts[expert];
    out[slot] = loads[expert] * share;
  }
  return out;
}

/** The load of each rank, [rankCount]: the sum of its `slotLoads`. */
export function rankLoads(placement: Placement, loads: ArrayLike<number>): Float64Array {
  const slots = slotLoads(placement, loads);
  const out = new Float64Array(placement.rankCount);
  for (let rank = 0; rank < placement.rankCount; rank++) {
    for (let slot = placement.slotOffsets[rank]; slot < placement.slotOffsets[rank + 1]; slot++) {
      out[rank] += slots[slot];
    }
  }
  return out;
}

/**
 * Mean over max of the loads, in (0, 1]: "balancedness" of vLLM, SGLang and EPLB. 1 when there is no load.
 * For several layers take it per layer; summing the layers first hides what each of them waits for.
 */
export function balancedness(loads: ArrayLike<number>): number {
  let sum = 0;
  let max = 0;
  for (let i = 0; i < loads.length; i++) {
    sum += loads[i];
    if (loads[i] > max) max = loads[i];
  }
  return max > 0 ? sum / loads.length / max : 1;
}

/** The choices of a batch per expert, [expertCount], summed over source ranks ([rankCount x expertCount]). */
export function choicesPerExpert(choices: Int32Array, expertCount: number): Int32Array {
  if (choices.length % expertCount !== 0) {
    throw new RangeError(`${choices.length} choices are not [rankCount x ${expertCount} experts]`);
  }
  const sums = new Int32Array(expertCount);
  for (let row = 0; row < choices.length; row += expertCount) {
    for (let expert = 0; expert < expertCount; expert++) sums[expert] += choices[row + expert];
  }
  return sums;
}

/** The sum in index order, so that the same values give the same bits. */
export function sumOf(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i];
  return sum;
}
