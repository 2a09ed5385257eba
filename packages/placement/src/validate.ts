/**
 * The laws that every placement keeps, and how often it bends the one that may bend.
 */
import { NO_EXPERT, type Placement } from '@epsim/spec';

/**
 * Throws `invariant: ...` when a placement is not one: offsets that do not ascend from 0, an unknown expert,
 * an expert without a slot, or a quota that is negative or on an empty slot. Two replicas of an expert on one
 * rank are legal but wasteful; `duplicatesOnRank` counts them.
 */
export function validatePlacement(placement: Placement): void {
  const { rankCount, expertCount, slotOffsets, slotExpert, slotQuota } = placement;
  if (slotOffsets.length !== rankCount + 1 || slotOffsets[0] !== 0) {
    throw new Error(`invariant: slotOffsets must be [${rankCount + 1}] from 0, is [${slotOffsets.length}]`);
  }
  for (let rank = 0; rank < rankCount; rank++) {
    if (slotOffsets[rank + 1] < slotOffsets[rank]) {
      throw new Error(`invariant: rank ${rank} has ${slotOffsets[rank + 1] - slotOffsets[rank]} slots`);
    }
  }
  if (slotExpert.length !== slotOffsets[rankCount]) {
    throw new Error(`invariant: ${slotExpert.length} slots listed, ${slotOffsets[rankCount]} counted`);
  }
  const replicas = new Int32Array(expertCount);
  for (let slot = 0; slot < slotExpert.length; slot++) {
    const expert = slotExpert[slot];
    if (expert === NO_EXPERT) continue;
    if (!(expert >= 0 && expert < expertCount)) {
      throw new Error(`invariant: slot ${slot} holds expert ${expert} of ${expertCount}`);
    }
    replicas[expert]++;
  }
  const missing = replicas.indexOf(0);
  if (missing >= 0) throw new Error(`invariant: expert ${missing} has no slot`);
  if (slotQuota) checkQuota(slotExpert, slotQuota);
}

/** Throws `invariant: ...` unless the quotas of every expert sum to its `choices`, [expertCount]. */
export function validateQuota(placement: Placement, choices: ArrayLike<number>): void {
  const { slotExpert, slotQuota, expertCount } = placement;
  if (!slotQuota) throw new Error('invariant: a split must give slotQuota');
  checkQuota(slotExpert, slotQuota);
  const given = new Float64Array(expertCount);
  for (let slot = 0; slot < slotExpert.length; slot++) {
    if (slotExpert[slot] !== NO_EXPERT) given[slotExpert[slot]] += slotQuota[slot];
  }
  for (let expert = 0; expert < expertCount; expert++) {
    if (given[expert] !== choices[expert]) {
      throw new Error(
        `invariant: expert ${expert} has ${choices[expert]} choices, ${given[expert]} in slots`,
      );
    }
  }
}

/** Slots that hold an expert which an earlier slot of the same rank holds too, counted over all ranks. */
export function duplicatesOnRank(placement: Placement): number {
  const { rankCount, expertCount, slotOffsets, slotExpert } = placement;
  const lastRank = new Int32Array(expertCount).fill(-1);
  let duplicates = 0;
  for (let rank = 0; rank < rankCount; rank++) {
    for (let slot = slotOffsets[rank]; slot < slotOffsets[rank + 1]; slot++) {
      const expert = slotExpert[slot];
      if (expert === NO_EXPERT) continue;
      if (lastRank[expert] === rank) duplicates++;
      lastRank[expert] = rank;
    }
  }
  return duplicates;
}

function checkQuota(slotExpert: Int32Array, slotQuota: Int32Array): void {
  if (slotQuota.length !== slotExpert.length) {
    throw new Error(`invariant: ${slotQuota.length} quotas for ${slotExpert.length} slots`);
  }
  for (let slot = 0; slot < slotQuota.length; slot++) {
    if (slotQuota[slot] < 0 || (slotQuota[slot] > 0 && slotExpert[slot] === NO_EXPERT)) {
      throw new Error(
        `invariant: slot ${slot} takes ${slotQuota[slot]} choices of expert ${slotExpert[slot]}`,
      );
    }
  }
}
