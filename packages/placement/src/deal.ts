/**
 * Deals experts into slots like cards: every expert once, then the rest of the slots in turn.
 * The one idea: a slot left over takes the next expert that its rank does not hold yet, so no rank ever
 * holds an expert twice; a rank with more slots than there are experts leaves the rest empty.
 */
import { NO_EXPERT, type Placement } from '@epsim/spec';
import { rankOfSlots, slotOffsetsOf } from './slots.js';

/**
 * Fills the slots in the order of `slotOrder` ([slotCount], a permutation) with the experts in the order of
 * `expertOrder` ([expertCount], a permutation), going round again for the redundant slots.
 * There must be at least as many slots as experts.
 */
export function deal(slotsPerRank: Int32Array, slotOrder: Int32Array, expertOrder: Int32Array): Placement {
  const rankCount = slotsPerRank.length;
  const expertCount = expertOrder.length;
  const slotOffsets = slotOffsetsOf(slotsPerRank);
  const slotExpert = new Int32Array(slotOrder.length).fill(NO_EXPERT);
  const rankOf = rankOfSlots({ rankCount, slotOffsets });
  const held = new Uint8Array(rankCount * expertCount);
  const cards = [...expertOrder];
  for (const slot of slotOrder) {
    const rank = rankOf[slot];
    const at = cards.findIndex((expert) => held[rank * expertCount + expert] === 0);
    if (at < 0) continue;
    const [expert] = cards.splice(at, 1);
    cards.push(expert);
    held[rank * expertCount + expert] = 1;
    slotExpert[slot] = expert;
  }
  return { rankCount, expertCount, slotOffsets, slotExpert };
}

/** 0 .. count - 1, [count]. */
export function inOrder(count: number): Int32Array {
  return Int32Array.from({ length: count }, (_, i) => i);
}
