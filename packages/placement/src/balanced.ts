/**
 * Balanced expert parallelism: every rank computes the same number of choices, to the last one.
 * The one idea: ranks with too many choices hand the difference to ranks with too few, and each receiver is
 * filled from one home only, so it needs at most experts / ranks redundant slots, whatever the batch
 * (MoonEP, the expert-parallel library of Kimi K3; technical report, 5.2.1).
 * The redundant slots are empty between batches: `split` says which experts to prefetch into them, and
 * `moves` from the one placement to the other counts that traffic.
 */
import { NO_EXPERT, type Placement } from '@epsim/spec';
import { z } from 'zod';
import { homesPerRank } from './homes.js';
import { choicesPerExpert, sumOf } from './loads.js';
import type { PlacementPolicy, SplitInput } from './policy.js';
import { checkInput, leastSlotsPerRank, rankOfSlots, slotOffsetsOf } from './slots.js';

export const balanced: PlacementPolicy = {
  summary: "Kimi K3's online plan: every rank computes equally many choices, remote experts are prefetched",
  options: z.strictObject({}),
  place(input) {
    checkInput(input);
    const { rankCount, slotsPerRank } = input;
    const expertCount = input.loads.length;
    const homes = homesPerRank(slotsPerRank, expertCount);
    const slotOffsets = slotOffsetsOf(slotsPerRank);
    const slotExpert = new Int32Array(slotOffsets[rankCount]).fill(NO_EXPERT);
    let expert = 0;
    for (let rank = 0; rank < rankCount; rank++) {
      for (let i = 0; i < homes[rank]; i++) slotExpert[slotOffsets[rank] + i] = expert++;
    }
    return { rankCount, expertCount, slotOffsets, slotExpert };
  },
  split: planBalanced,
  leastSlotsPerRank: (expertCount, rankCount) => 2 * leastSlotsPerRank(expertCount, rankCount),
};

/**
 * The placement of one batch: homes as given, redundant slots filled, and a quota for every slot.
 * Each rank gets its exact share (by speed where ranks differ, remainders one by one) as long as it has as
 * many empty slots as the plan needs; what does not fit stays at home.
 */
function planBalanced(input: SplitInput): Placement {
  const { placement } = input;
  const { rankCount, expertCount, slotOffsets } = placement;
  const slotExpert = placement.slotExpert.slice();
  const slotQuota = new Int32Array(slotExpert.length);
  const load = choicesPerExpert(input.choices, expertCount);
  const rankLoad = new Int32Array(rankCount);
  const rankOf = rankOfSlots(placement);
  for (let slot = 0; slot < slotExpert.length; slot++) {
    const expert = slotExpert[slot];
    if (expert === NO_EXPERT) continue;
    if (load[expert] < 0) {
      throw new RangeError(`balanced: expert ${expert} has two homes; give split what place returned`);
    }
    slotQuota[slot] = load[expert];
    rankLoad[rankOf[slot]] += load[expert];
    load[expert] = -1;
  }
  const given = pairRanks(rankLoad, sharesOf(rankLoad, input));
  const free = slotOffsets.slice(0, rankCount);
  for (let home = 0; home < rankCount; home++) {
    const owed = given.subarray(home * rankCount, (home + 1) * rankCount);
    handOver(placement, owed, home, { slotExpert, slotQuota, free });
  }
  return { rankCount, expertCount, slotOffsets, slotExpert, slotQuota };
}

/**
 * Whole shares of the total load, [rankCount], in proportion to speed; the first ranks take the remainder.
 * A rank without slots has no share.
 */
function sharesOf(rankLoad: Int32Array, { placement, rankSpeed }: SplitInput): Int32Array {
  const total = sumOf(rankLoad);
  const weights = Float64Array.from(rankLoad, (_, rank) =>
    placement.slotOffsets[rank + 1] > placement.slotOffsets[rank] ? (rankSpeed?.[rank] ?? 1) : 0,
  );
  const weightSum = sumOf(weights);
  const shares = Int32Array.from(weights, (weight) => Math.floor((total * weight) / weightSum));
  let left = total - sumOf(shares);
  for (let rank = 0; left > 0; rank = (rank + 1) % shares.length) {
    if (weights[rank] === 0) continue;
    shares[rank]++;
    left--;
  }
  return shares;
}

/**
 * Choices that rank h hands to rank u, row-major [rankCount x rankCount]. The fullest rank fills the emptiest
 * one entirely, which may leave the giver short: it is then filled in its turn. At most ranks - 1 rounds.
 */
function pairRanks(rankLoad: Int32Array, shares: Int32Array): Int32Array {
  const rankCount = rankLoad.length;
  const given = new Int32Array(rankCount * rankCount);
  const surplus = rankLoad.map((load, rank) => load - shares[rank]);
  for (;;) {
    let fullest = 0;
    let emptiest = 0;
    for (let rank = 1; rank < rankCount; rank++) {
      if (surplus[rank] > surplus[fullest]) fullest = rank;
      if (surplus[rank] < surplus[emptiest]) emptiest = rank;
    }
    if (surplus[fullest] <= 0) return given;
    // With equal shares a giver always has enough; with uneven ones it gives what it has.
    const amount = Math.min(-surplus[emptiest], surplus[fullest] + shares[fullest]);
    given[fullest * rankCount + emptiest] += amount;
    surplus[fullest] -= amount;
    surplus[emptiest] += amount;
  }
}

/** Turns what `home` owes each rank (`owed`, [rankCount], used up) into slots: the largest expert for the largest debt. */
function handOver(
  placement: Placement,
  owed: Int32Array,
  home: number,
  out: { slotExpert: Int32Array; slotQuota: Int32Array; free: Int32Array },
): void {
  const { slotOffsets } = placement;
  for (;;) {
    let debtor = 0;
    for (let rank = 1; rank < owed.length; rank++) if (owed[rank] > owed[debtor]) debtor = rank;
    if (owed[debtor] <= 0) return;
    let from = slotOffsets[home];
    for (let slot = from + 1; slot < slotOffsets[home + 1]; slot++) {
      if (placement.slotExpert[slot] === NO_EXPERT) continue;
      if (out.slotQuota[slot] > out.slotQuota[from]) from = slot;
    }
    while (out.free[debtor] < slotOffsets[debtor + 1] && out.slotExpert[out.free[debtor]] !== NO_EXPERT) {
      out.free[debtor]++;
    }
    if (out.free[debtor] === slotOffsets[debtor + 1]) {
      owed[debtor] = 0;
      continue;
    }
    const amount = Math.min(out.slotQuota[from], owed[debtor]);
    out.slotExpert[out.free[debtor]] = placement.slotExpert[from];
    out.slotQuota[out.free[debtor]] = amount;
    out.slotQuota[from] -= amount;
    owed[debtor] -= amount;
  }
}
