/**
 * What it takes to get from one placement to the next.
 * The one idea: slots of a rank are interchangeable, so an expert that a rank holds already stays in its slot,
 * and only experts that are new to the rank travel. Minimal means: on every rank no numbering of the new
 * slots writes fewer of them. Counts slots; bytes and time are the caller's.
 */
import { NO_EXPERT, type Placement } from '@epsim/spec';
import type { PlacedReplicas } from './policy.js';
import { rankOfSlots, slotsByExpert } from './slots.js';

export interface Moves {
  /** The new placement with the slots of each rank renumbered so that fewest change. */
  readonly relabelled: PlacedReplicas;
  /** Slots that get another expert's weights. A slot that is emptied costs nothing and is not counted. */
  readonly movedSlots: number;
  /** Those slots, ascending, [movedSlots]. */
  readonly slots: Int32Array;
  /** The rank that sends each of them its weights, [movedSlots]. */
  readonly fromRank: Int32Array;
  /** Experts' weights sent from rank s to rank d, row-major [rankCount x rankCount]; s = d is a copy at home. */
  readonly slotsPerPair: Int32Array;
}

/**
 * The moves from `from` to `to`. Weights come from the nearest rank that held the expert: the rank itself,
 * its domain of `domainRanks` ranks (all ranks when left out), then any; among equals from the one that has
 * sent least. Throws RangeError when the two differ in experts, ranks or slots of a rank.
 */
export function moves(from: Placement, to: PlacedReplicas, domainRanks = from.rankCount): Moves {
  checkSameShape(from, to);
  const { rankCount } = to;
  const source = relabelling(from, to);
  const relabelled = permuted(to, source);
  const slots: number[] = [];
  const fromRank: number[] = [];
  const slotsPerPair = new Int32Array(rankCount * rankCount);
  const sent = new Int32Array(rankCount);
  const rankOf = rankOfSlots(from);
  const holders = slotsByExpert(from).map((held) => held.map((slot) => rankOf[slot]));
  for (let rank = 0; rank < rankCount; rank++) {
    for (let slot = to.slotOffsets[rank]; slot < to.slotOffsets[rank + 1]; slot++) {
      const expert = relabelled.slotExpert[slot];
      if (expert === NO_EXPERT || expert === from.slotExpert[slot]) continue;
      const sender = nearest(holders[expert], rank, domainRanks, sent);
      slots.push(slot);
      fromRank.push(sender);
      slotsPerPair[sender * rankCount + rank]++;
      if (sender !== rank) sent[sender]++;
    }
  }
  return {
    relabelled,
    movedSlots: slots.length,
    slots: Int32Array.from(slots),
    fromRank: Int32Array.from(fromRank),
    slotsPerPair,
  };
}

/** For each slot of the relabelled placement the slot of `to` that it shows, [slotCount]. */
function relabelling(from: Placement, to: Placement): Int32Array {
  const source = new Int32Array(to.slotExpert.length).fill(-1);
  for (let rank = 0; rank < to.rankCount; rank++) {
    const first = to.slotOffsets[rank];
    const end = to.slotOffsets[rank + 1];
    const waiting: number[] = [];
    const taken = (slot: number) => source[slot] >= 0;
    for (let slot = first; slot < end; slot++) {
      const expert = to.slotExpert[slot];
      let stays = -1;
      for (let old = first; old < end && stays < 0; old++) {
        if (from.slotExpert[old] === expert && !taken(old)) stays = old;
      }
      if (stays >= 0) source[stays] = slot;
      else waiting.push(slot);
    }
    for (let slot = first; slot < end; slot++) if (!taken(slot)) source[slot] = waiting.shift() ?? slot;
  }
  return source;
}

function permuted(to: PlacedReplicas, source: Int32Array): PlacedReplicas {
  const by = (values: Int32Array) => source.map((slot) => values[slot]);
  return {
    ...to,
    slotExpert: by(to.slotExpert),
    ...(to.slotQuota ? { slotQuota: by(to.slotQuota) } : {}),
    ...(to.slotReplica ? { slotReplica: by(to.slotReplica) } : {}),
  };
}

function nearest(holders: readonly number[], rank: number, domainRanks: number, sent: Int32Array): number {
  const domain = Math.floor(rank / domainRanks);
  let best = -1;
  let bestKey = Infinity;
  for (const holder of holders) {
    if (holder === rank) return rank;
    const far = Math.floor(holder / domainRanks) === domain ? 0 : 2 ** 31;
    if (sent[holder] + far >= bestKey) continue;
    bestKey = sent[holder] + far;
    best = holder;
  }
  return best;
}

function checkSameShape(from: Placement, to: Placement): void {
  if (from.expertCount !== to.expertCount || from.rankCount !== to.rankCount) {
    throw new RangeError(
      `moves: from ${from.expertCount} experts on ${from.rankCount} ranks ` +
        `to ${to.expertCount} experts on ${to.rankCount} ranks`,
    );
  }
  const rank = from.slotOffsets.findIndex((offset, i) => offset !== to.slotOffsets[i]);
  if (rank > 0) {
    const slots = (p: Placement) => p.slotOffsets[rank] - p.slotOffsets[rank - 1];
    throw new RangeError(`moves: rank ${rank - 1} has ${slots(from)} slots before and ${slots(to)} after`);
  }
}
