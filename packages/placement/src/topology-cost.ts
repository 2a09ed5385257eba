/**
 * What a placement costs in load and in distance together, kept up to date while replicas change.
 *   cost = busiest rank / fair share  +  distanceWeight x mean distance of a choice
 * A choice that stays on its rank has distance 0, within its domain `near`, and 1 beyond. Replicas share
 * evenly; who goes to which replica is the assignment of least distance under those shares, which on a tree
 * of rank, domain and world is found from the inside out: first what a rank can keep, then what a domain can.
 */
import { NO_EXPERT, type Placement } from '@epsim/spec';
import type { PlacementInput } from './policy.js';

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
  /** Gives or takes a replica. The caller keeps at least one of each expert. */
  add(rank: number, expert: number): void;
  remove(rank: number, expert: number): void;
  total(): number;
}

/** The cost of `placement` for `input`; a choice comes from every rank alike where sources are not known. */
export function placementCost(placement: Placement, input: PlacementInput, weights: CostWeights): number {
  return trackCost(placement, input, weights).total();
}

/** As `placementCost`, with replicas that may be changed one by one at O(rankCount) each. */
export function trackCost(placement: Placement, input: PlacementInput, weights: CostWeights): TopologyCost {
  const { rankCount, loads, rankSpeed, domainRanks } = input;
  const expertCount = loads.length;
  const domainCount = Math.ceil(rankCount / domainRanks);
  const demand = demandByExpert(input);
  const demandTotal = Float64Array.from(loads, (_, e) =>
    sumOf(demand.subarray(e * rankCount, (e + 1) * rankCount)),
  );
  const allDemand = sumOf(demandTotal);
  const fairShare = sumOf(loads) / (rankSpeed ? sumOf(rankSpeed) : rankCount);
  const held = new Uint8Array(expertCount * rankCount);
  const counts = new Int32Array(expertCount);
  const rankLoad = new Float64Array(rankCount);
  const distance = new Float64Array(expertCount);
  let distanceSum = 0;

  const measure = (expert: number): number => {
    const share = demandTotal[expert] / counts[expert];
    let onRank = 0;
    let inDomain = 0;
    for (let domain = 0; domain < domainCount; domain++) {
      const end = Math.min(rankCount, (domain + 1) * domainRanks);
      let wanted = 0;
      let offered = 0;
      for (let rank = domain * domainRanks; rank < end; rank++) {
        const own = demand[expert * rankCount + rank];
        wanted += own;
        if (held[expert * rankCount + rank] === 0) continue;
        offered += share;
        onRank += Math.min(own, share);
      }
      inDomain += Math.min(wanted, offered);
    }
    return weights.near * (inDomain - onRank) + (demandTotal[expert] - inDomain);
  };
  const change = (rank: number, expert: number, present: 0 | 1): void => {
    const row = expert * rankCount;
    const before = counts[expert] > 0 ? loads[expert] / counts[expert] : 0;
    for (let r = 0; r < rankCount; r++) if (held[row + r] === 1) rankLoad[r] -= before;
    held[row + rank] = present;
    counts[expert] += present === 1 ? 1 : -1;
    const after = loads[expert] / counts[expert];
    for (let r = 0; r < rankCount; r++) if (held[row + r] === 1) rankLoad[r] += after;
    distanceSum -= distance[expert];
    distance[expert] = measure(expert);
    distanceSum += distance[expert];
  };
  for (let rank = 0; rank < rankCount; rank++) {
    for (let slot = placement.slotOffsets[rank]; slot < placement.slotOffsets[rank + 1]; slot++) {
      if (placement.slotExpert[slot] !== NO_EXPERT) change(rank, placement.slotExpert[slot], 1);
    }
  }
  return {
    rankLoad,
    holds: (rank, expert) => held[expert * rankCount + rank] === 1,
    replicas: (expert) => counts[expert],
    add: (rank, expert) => change(rank, expert, 1),
    remove: (rank, expert) => change(rank, expert, 0),
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

function sumOf(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i];
  return sum;
}
