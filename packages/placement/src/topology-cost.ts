/**
 * What a placement costs in load and in distance together, kept up to date while replicas change.
 *   cost = busiest rank / fair share  +  distanceWeight x mean distance of a choice
 * A choice that stays on its rank has distance 0, within its domain `near`, and 1 beyond. Replicas share
 * evenly; who goes to which replica is the assignment of least distance under those shares, which on a tree
 * of rank, domain and world is found from the inside out: first what a rank can keep, then what a domain can.
 */
import { NO_EXPERT, type Placement } from '@epsim/spec';
import { sumOf } from './loads.js';
import type { PlacementInput } from './policy.js';
import { rankOfSlots } from './slots.js';

export interface CostWeights {
  /** Weight of the mean distance against the load term. */
  readonly distanceWeight: number;
  /** Distance of a choice that leaves its rank but not its domain; one that leaves its domain has 1. */
  readonly near: number;
}

export interface TopologyCost {
  readonly rankLoad: Float64Array;
  /** Whether `rank` holds `expert`. */
  holds(rank: number, expert: number): boolean;
  replicas(expert: number): number;
  /** Gives or takes a replica. No expert may be left without one in between: give first, then take. */
  add(rank: number, expert: number): void;
  remove(rank: number, expert: number): void;
  total(): number;
}

/** The cost of `placement` for `input`; a choice comes from every rank alike where sources are not known. */
export function placementCost(placement: Placement, input: PlacementInput, weights: CostWeights): number {
  return trackCost(placement, input, weights).total();
}

/** As `placementCost`, with replicas that may be changed one by one, at the cost of the expert's replicas each. */
export function trackCost(placement: Placement, input: PlacementInput, weights: CostWeights): TopologyCost {
  const { rankCount, loads, rankSpeed } = input;
  const demand = demandOf(input);
  const allDemand = sumOf(demand.byRank);
  const fairShare = sumOf(loads) / (rankSpeed ? sumOf(rankSpeed) : rankCount);
  /** Ranks that hold each expert, ascending. */
  const holders: number[][] = Array.from(loads, () => []);
  const rankLoad = new Float64Array(rankCount);
  const distance = new Float64Array(loads.length);
  let distanceSum = 0;

  const change = (expert: number, edit: (ranks: number[]) => void): void => {
    const ranks = holders[expert];
    for (const rank of ranks) rankLoad[rank] -= loads[expert] / ranks.length;
    edit(ranks);
    for (const rank of ranks) rankLoad[rank] += loads[expert] / ranks.length;
    distanceSum -= distance[expert];
    distance[expert] = leastDistance(demand, expert, ranks, weights.near);
    distanceSum += distance[expert];
  };
  const add = (rank: number, expert: number) =>
    change(expert, (ranks) => {
      const at = ranks.findIndex((other) => other > rank);
      ranks.splice(at < 0 ? ranks.length : at, 0, rank);
    });
  rankOfSlots(placement).forEach((rank, slot) => {
    if (placement.slotExpert[slot] !== NO_EXPERT) add(rank, placement.slotExpert[slot]);
  });
  return {
    rankLoad,
    holds: (rank, expert) => holders[expert].includes(rank),
    replicas: (expert) => holders[expert].length,
    add,
    remove: (rank, expert) => change(expert, (ranks) => ranks.splice(ranks.indexOf(rank), 1)),
    total: () => {
      let busiest = 0;
      for (let rank = 0; rank < rankCount; rank++) {
        busiest = Math.max(busiest, rankSpeed ? rankLoad[rank] / rankSpeed[rank] : rankLoad[rank]);
      }
      const loadTerm = fairShare > 0 ? busiest / fairShare : 1;
      const meanDistance = allDemand > 0 ? distanceSum / allDemand : 0;
      return loadTerm + weights.distanceWeight * meanDistance;
    },
  };
}

/** Where the choices of each expert come from. */
interface Demand {
  readonly rankCount: number;
  readonly domainRanks: number;
  readonly domainCount: number;
  /** Row-major [expertCount x rankCount]. */
  readonly byRank: Float64Array;
  /** Row-major [expertCount x domainCount]. */
  readonly byDomain: Float64Array;
}

/**
 * Sum of the distances of an expert's choices in the best assignment, when its replicas on `ranks` (ascending,
 * a rank as often as it has one) take equal shares.
 */
function leastDistance(demand: Demand, expert: number, ranks: readonly number[], near: number): number {
  const { rankCount, domainCount, domainRanks, byRank, byDomain } = demand;
  let total = 0;
  for (let domain = 0; domain < domainCount; domain++) total += byDomain[expert * domainCount + domain];
  const share = total / ranks.length;
  let onRank = 0;
  let inDomain = 0;
  let rankShare = 0;
  let domainShare = 0;
  for (let i = 0; i < ranks.length; i++) {
    const rank = ranks[i];
    const domain = Math.floor(rank / domainRanks);
    rankShare += share;
    domainShare += share;
    if (ranks[i + 1] !== rank) {
      onRank += Math.min(byRank[expert * rankCount + rank], rankShare);
      rankShare = 0;
    }
    if (Math.floor(ranks[i + 1] / domainRanks) !== domain) {
      inDomain += Math.min(byDomain[expert * domainCount + domain], domainShare);
      domainShare = 0;
    }
  }
  return near * (inDomain - onRank) + (total - inDomain);
}

function demandOf(input: PlacementInput): Demand {
  const { rankCount, domainRanks } = input;
  const domainCount = Math.ceil(rankCount / domainRanks);
  const byRank = demandByExpert(input);
  const byDomain = new Float64Array(input.loads.length * domainCount);
  byRank.forEach((count, i) => {
    const domain = Math.floor((i % rankCount) / domainRanks);
    byDomain[Math.floor(i / rankCount) * domainCount + domain] += count;
  });
  return { rankCount, domainRanks, domainCount, byRank, byDomain };
}

/** Choices of each expert by source rank, row-major [expertCount x rankCount]; every rank alike where not known. */
export function demandByExpert({ loads, rankCount, rankExpertLoads }: PlacementInput): Float64Array {
  const expertCount = loads.length;
  const out = new Float64Array(expertCount * rankCount);
  for (let expert = 0; expert < expertCount; expert++) {
    for (let rank = 0; rank < rankCount; rank++) {
      out[expert * rankCount + rank] =
        rankExpertLoads?.[rank * expertCount + expert] ?? loads[expert] / rankCount;
    }
  }
  return out;
}
