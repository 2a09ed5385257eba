/**
 * Replication, load and distance in one objective (topology-cost).
 * The one idea: begin with the best of a few placements that lean more and more towards where tokens come
 * from, `eplb-distinct` itself among them, then change one thing at a time - two slots change places, or a
 * redundant slot copies another expert - and keep what lowers the cost. So it is never worse than that one.
 * Needs to know where tokens come from to gain much; without that only spreading over domains is left to win.
 */
import { NO_EXPERT, type Placement, randomSource } from '@epsim/spec';
import { z } from 'zod';
import { type Pull, placeDistinct } from './eplb-distinct.js';
import type { PlacementInput, PlacementPolicy } from './policy.js';
import { checkInput, rankOfSlots } from './slots.js';
import { demandByExpert, placementCost, type TopologyCost, trackCost } from './topology-cost.js';

const topologyOptions = z.strictObject({
  distanceWeight: z
    .number()
    .min(0)
    .default(1)
    .describe('weight of the mean distance of a choice, against the busiest rank over the mean'),
  near: z
    .number()
    .min(0)
    .max(1)
    .default(0.1)
    .describe('distance within a scale-up domain, where beyond it is 1: about the ratio of the bandwidths'),
  effort: z.int().min(0).default(50).describe('changes tried for each slot'),
});

export const topologyAware: PlacementPolicy = {
  summary: 'replicas placed for load and distance together, by local search from eplb-distinct',
  options: topologyOptions,
  place(input, options) {
    checkInput(input);
    const { effort, ...weights } = topologyOptions.parse(options);
    const starts = LEANS.map((lean) =>
      placeDistinct(input, lean > 0 ? pullOf(input, lean, weights.near) : undefined),
    );
    const costs = starts.map((placement) => placementCost(placement, input, weights));
    const start = starts[costs.indexOf(Math.min(...costs))];
    const slotExpert = start.slotExpert.slice();
    search(start, slotExpert, input, trackCost(start, input, weights), effort);
    const found = { ...start, slotExpert };
    // The running sums of the search round; the law is kept by the exact figures.
    return placementCost(found, input, weights) <= Math.min(...costs) ? found : start;
  },
};

/** Fair shares of load by which a rank whose domain asks for all of an expert may run ahead of the others. */
const LEANS = [0, 0.1, 0.3, 0.8];

/** Pulls a replica to the domain, and in it to the rank, where most of the demand is not yet served. */
function pullOf(input: PlacementInput, lean: number, near: number): Pull {
  const { rankCount, domainRanks, loads } = input;
  const demand = demandByExpert(input);
  return (rank, expert, shares, holds) => {
    if (loads[expert] === 0) return 0;
    const first = Math.floor(rank / domainRanks) * domainRanks;
    let open = 0;
    for (let r = first; r < Math.min(rankCount, first + domainRanks); r++) {
      open += demand[expert * rankCount + r];
      if (holds(r)) open -= loads[expert] / shares;
    }
    const own = demand[expert * rankCount + rank];
    return (lean * ((1 - near) * Math.max(0, open) + near * own)) / loads[expert];
  };
}

function search(
  start: Placement,
  slotExpert: Int32Array,
  input: PlacementInput,
  cost: TopologyCost,
  effort: number,
): void {
  const source = randomSource(input.seed, 'topology-aware', input.layer);
  const below = (count: number) => Math.floor(source.uniform() * count);
  const rankOf = rankOfSlots(start);
  const slotCount = slotExpert.length;
  const saved = new Float64Array(input.rankCount);
  let current = cost.total();
  for (let tries = effort * slotCount; tries > 0; tries--) {
    const a = tries % 2 === 0 ? below(slotCount) : slotOnBusiest(start, cost.rankLoad, input, below);
    const e = slotExpert[a];
    if (e === NO_EXPERT) continue;
    const p = rankOf[a];
    const b = below(slotCount);
    const f = slotExpert[b];
    if (f === NO_EXPERT || f === e || cost.holds(p, f)) continue;
    const q = rankOf[b];
    // A redundant slot may copy the other expert instead of changing places with it.
    const copies = cost.replicas(e) > 1 && tries % 4 < 2;
    if (!copies && cost.holds(q, e)) continue;
    saved.set(cost.rankLoad);
    cost.add(p, f);
    if (!copies) cost.add(q, e);
    cost.remove(p, e);
    if (!copies) cost.remove(q, f);
    const next = cost.total();
    if (next < current) {
      current = next;
      slotExpert[a] = f;
      if (!copies) slotExpert[b] = e;
      continue;
    }
    cost.add(p, e);
    if (!copies) cost.add(q, f);
    cost.remove(p, f);
    if (!copies) cost.remove(q, e);
    cost.rankLoad.set(saved);
  }
}

function slotOnBusiest(
  placement: Placement,
  rankLoad: Float64Array,
  input: PlacementInput,
  below: (count: number) => number,
): number {
  let busiest = 0;
  const finish = (rank: number) => rankLoad[rank] / (input.rankSpeed?.[rank] ?? 1);
  for (let rank = 1; rank < rankLoad.length; rank++) if (finish(rank) > finish(busiest)) busiest = rank;
  const first = placement.slotOffsets[busiest];
  return first + below(placement.slotOffsets[busiest + 1] - first);
}
