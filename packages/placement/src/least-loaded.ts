/**
 * Spills choices of an overloaded rank to replicas elsewhere, batch by batch, above a threshold.
 * The one idea: replicas share evenly, which is right on average; a batch that leans is corrected by the
 * least that brings every rank below the threshold. One hop only: the linear program of `lp` finds chains.
 */
import { NO_EXPERT, type Placement } from '@epsim/spec';
import { z } from 'zod';
import { placeDistinct } from './eplb-distinct.js';
import { choicesPerExpert, replicaCounts, sumOf } from './loads.js';
import type { PlacementPolicy, SplitInput } from './policy.js';
import { checkInput, rankOfSlots, slotsByExpert } from './slots.js';

const leastLoadedOptions = z.strictObject({
  threshold: z
    .number()
    .min(1)
    .default(1.05)
    .describe("a rank's load over the mean from which it spills; 1 spills whenever it is above"),
});

export const leastLoaded: PlacementPolicy = {
  summary: 'even shares between replicas; a rank above the threshold spills to its least loaded replicas',
  options: leastLoadedOptions,
  place(input) {
    checkInput(input);
    return placeDistinct(input);
  },
  split(input, options) {
    return spill(input, leastLoadedOptions.parse(options).threshold);
  },
};

/** Even whole shares, [slotCount]: the first replicas of an expert take what does not divide. */
function evenQuota(placement: Placement, load: Int32Array): Int32Array {
  const counts = replicaCounts(placement);
  const seen = new Int32Array(placement.expertCount);
  return placement.slotExpert.map((expert) => {
    if (expert === NO_EXPERT) return 0;
    const nth = seen[expert]++;
    return Math.floor(load[expert] / counts[expert]) + (nth < load[expert] % counts[expert] ? 1 : 0);
  });
}

function spill(input: SplitInput, threshold: number): Placement {
  const { placement, rankSpeed } = input;
  const { rankCount, slotOffsets, slotExpert } = placement;
  const slotQuota = evenQuota(placement, choicesPerExpert(input.choices, placement.expertCount));
  const rankOf = rankOfSlots(placement);
  const load = new Int32Array(rankCount);
  for (let slot = 0; slot < slotQuota.length; slot++) load[rankOf[slot]] += slotQuota[slot];
  const limit = limitsOf(load, threshold, rankSpeed);
  const replicas = slotsByExpert(placement);
  const done = new Uint8Array(rankCount);
  for (;;) {
    const busiest = mostOver(load, limit, done);
    if (busiest < 0) return { ...placement, slotQuota };
    let best = { from: -1, to: -1, amount: 0 };
    for (let from = slotOffsets[busiest]; from < slotOffsets[busiest + 1]; from++) {
      if (slotQuota[from] === 0) continue;
      for (const to of replicas[slotExpert[from]]) {
        const room = limit[rankOf[to]] - load[rankOf[to]];
        const amount = Math.min(slotQuota[from], load[busiest] - limit[busiest], room);
        if (amount > best.amount) best = { from, to, amount };
      }
    }
    if (best.amount === 0) {
      done[busiest] = 1;
      continue;
    }
    slotQuota[best.from] -= best.amount;
    slotQuota[best.to] += best.amount;
    load[busiest] -= best.amount;
    load[rankOf[best.to]] += best.amount;
  }
}

/** The load that each rank may have, [rankCount]: threshold x its share by speed, rounded up. */
function limitsOf(load: Int32Array, threshold: number, speed: Float64Array | undefined): Float64Array {
  const total = sumOf(load);
  const speedSum = speed ? sumOf(speed) : load.length;
  return Float64Array.from(load, (_, rank) =>
    Math.ceil((threshold * total * (speed?.[rank] ?? 1)) / speedSum),
  );
}

/** The rank furthest above its limit that can still spill, or -1. */
function mostOver(load: Int32Array, limit: Float64Array, done: Uint8Array): number {
  let best = -1;
  for (let rank = 0; rank < load.length; rank++) {
    const over = load[rank] - limit[rank];
    if (over > 0 && !done[rank] && (best < 0 || over > load[best] - limit[best])) best = rank;
  }
  return best;
}
