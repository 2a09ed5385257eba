/**
 * Which replica of its expert each choice goes to.
 * Every source rank decides from what it can see alone, as a real rank does, so the answer does not depend
 * on the order in which ranks are planned.
 */
import { NO_EXPERT, type Placement, type Routing } from '@epsim/spec';

export type ReplicaRule = 'round-robin' | 'nearest';

/** Slots of each expert in slot order: those of expert e are slots[offsets[e] .. offsets[e + 1]]. */
export interface SlotsByExpert {
  readonly offsets: Int32Array;
  readonly slots: Int32Array;
  /** Rank of each slot, [slotCount]. */
  readonly rankOfSlot: Int32Array;
}

/** Inverts a placement. Throws RangeError when an expert has no slot. */
export function slotsByExpert(placement: Placement): SlotsByExpert {
  const { slotExpert, slotOffsets, expertCount, rankCount } = placement;
  const offsets = new Int32Array(expertCount + 1);
  for (const expert of slotExpert) if (expert !== NO_EXPERT) offsets[expert + 1]++;
  for (let e = 0; e < expertCount; e++) {
    if (offsets[e + 1] === 0) throw new RangeError(`expert ${e} has no slot among ${slotExpert.length}`);
    offsets[e + 1] += offsets[e];
  }
  const next = offsets.slice(0, expertCount);
  const slots = new Int32Array(offsets[expertCount]);
  for (let s = 0; s < slotExpert.length; s++) {
    if (slotExpert[s] !== NO_EXPERT) slots[next[slotExpert[s]]++] = s;
  }
  const rankOfSlot = new Int32Array(slotExpert.length);
  for (let r = 0; r < rankCount; r++) rankOfSlot.fill(r, slotOffsets[r], slotOffsets[r + 1]);
  return { offsets, slots, rankOfSlot };
}

/**
 * Writes the slot of each choice into `out`, [tokens x width].
 * With a quota, an expert's choices fill its slots in slot order, taken in source-rank order.
 * Otherwise `round-robin` spreads each rank's choices of an expert over its replicas, starting at the rank's
 * own number; `nearest` does the same among the replicas of the closest tier: own rank, own domain, anywhere.
 */
export function chooseSlots(
  routing: Routing,
  placement: Placement,
  index: SlotsByExpert,
  rule: ReplicaRule,
  domainRanks: number,
  out: Int32Array,
): void {
  if (placement.slotQuota) {
    fillQuotas(routing, placement.slotQuota, index, out);
    return;
  }
  const { experts, tokenOffsets, width } = routing;
  const candidates = new Int32Array(index.slots.length);
  const first = new Int32Array(routing.expertCount);
  const count = new Int32Array(routing.expertCount);
  const turn = new Int32Array(routing.expertCount);
  for (let rank = 0; rank + 1 < tokenOffsets.length; rank++) {
    if (tokenOffsets[rank] === tokenOffsets[rank + 1]) continue;
    nearestCandidates(index, rule === 'nearest' ? rank : -1, domainRanks, candidates, first, count);
    turn.fill(rank);
    for (let i = tokenOffsets[rank] * width; i < tokenOffsets[rank + 1] * width; i++) {
      const e = experts[i];
      out[i] = e === NO_EXPERT ? NO_EXPERT : candidates[first[e] + (turn[e]++ % count[e])];
    }
  }
}

/** The replicas of each expert that `rank` may use: all of them when rank is -1, else those of the closest tier. */
function nearestCandidates(
  index: SlotsByExpert,
  rank: number,
  domainRanks: number,
  candidates: Int32Array,
  first: Int32Array,
  count: Int32Array,
): void {
  const { offsets, slots, rankOfSlot } = index;
  const distance = (slot: number) => {
    if (rank < 0) return 0;
    const other = rankOfSlot[slot];
    if (other === rank) return 0;
    return Math.floor(other / domainRanks) === Math.floor(rank / domainRanks) ? 1 : 2;
  };
  for (let e = 0; e < first.length; e++) {
    let best = 3;
    first[e] = offsets[e];
    let n = 0;
    for (let i = offsets[e]; i < offsets[e + 1]; i++) {
      const d = distance(slots[i]);
      if (d > best) continue;
      if (d < best) n = 0;
      best = d;
      candidates[offsets[e] + n++] = slots[i];
    }
    count[e] = n;
  }
}

function fillQuotas(routing: Routing, quota: Int32Array, index: SlotsByExpert, out: Int32Array): void {
  const left = Int32Array.from(quota);
  const at = index.offsets.slice(0, routing.expertCount);
  for (let i = 0; i < routing.experts.length; i++) {
    const e = routing.experts[i];
    if (e === NO_EXPERT) {
      out[i] = NO_EXPERT;
      continue;
    }
    while (at[e] < index.offsets[e + 1] && left[index.slots[at[e]]] === 0) at[e]++;
    if (at[e] === index.offsets[e + 1]) {
      throw new RangeError(`slot quotas of expert ${e} sum to less than its choices`);
    }
    const slot = index.slots[at[e]];
    left[slot]--;
    out[i] = slot;
  }
}
