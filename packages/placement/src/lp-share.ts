/**
 * The linear program that shares loads between the replicas of a placement.
 *   minimise T  subject to  for each expert: the shares of its replicas sum to its load
 *                           for each rank: the shares on it <= T x its speed
 * Ranks that share no expert, directly or over others, cannot help each other: each such group of ranks is a
 * program of its own, so that a group's optimum does not hide behind a busier one.
 */
import { NO_EXPERT, type Placement } from '@epsim/spec';
import { replicaCounts } from './loads.js';
import { rankOfSlots } from './slots.js';
import { solve } from './solver.js';

/** Ranks that can help each other, and the slots whose share is open. */
interface Group {
  readonly ranks: number[];
  /** Slots on these ranks of experts with several replicas. */
  readonly slots: number[];
}

/**
 * The load of the busiest rank over its speed when replicas share in the best way, as a real number: no
 * policy does better on the same placement. `loads` is [expertCount]. Needs `loadSolver`.
 */
export function leastBusiestRank(
  placement: Placement,
  loads: ArrayLike<number>,
  speed?: Float64Array,
): number {
  const fixed = fixedLoads(placement, loads);
  let busiest = 0;
  for (const group of groupsOf(placement)) {
    busiest = Math.max(busiest, fractional(placement, group, loads, fixed, speed));
  }
  return busiest;
}

/**
 * Choices that each slot takes, [slotCount], whole numbers that sum to `load` ([expertCount]) per expert, with
 * the busiest rank at the optimum rounded up. Whole capacities make every vertex of this transport problem
 * whole, so the second solve needs no integer search. Needs `loadSolver`.
 */
export function shareByProgram(placement: Placement, load: Int32Array, speed?: Float64Array): Int32Array {
  const fixed = fixedLoads(placement, load);
  const counts = replicaCounts(placement);
  const quota = placement.slotExpert.map((expert) =>
    expert !== NO_EXPERT && counts[expert] === 1 ? load[expert] : 0,
  );
  for (const group of groupsOf(placement)) {
    if (group.slots.length === 0) continue;
    const least = fractional(placement, group, load, fixed, speed);
    const capacity = group.ranks.map((rank) => Math.ceil(least * (speed?.[rank] ?? 1) - 1e-6) - fixed[rank]);
    const shares = solve(program(placement, group, load, capacity));
    group.slots.forEach((slot, i) => {
      quota[slot] = Math.round(shares[i]);
    });
  }
  return quota;
}

/** Load of each rank that has no choice where to go, [rankCount]: experts with one replica. */
function fixedLoads(placement: Placement, loads: ArrayLike<number>): Float64Array {
  const counts = replicaCounts(placement);
  const rankOf = rankOfSlots(placement);
  const fixed = new Float64Array(placement.rankCount);
  placement.slotExpert.forEach((expert, slot) => {
    if (expert !== NO_EXPERT && counts[expert] === 1) fixed[rankOf[slot]] += loads[expert];
  });
  return fixed;
}

/** The optimum T of one group. */
function fractional(
  placement: Placement,
  group: Group,
  loads: ArrayLike<number>,
  fixed: Float64Array,
  speed: Float64Array | undefined,
): number {
  const speedOf = (rank: number) => speed?.[rank] ?? 1;
  if (group.slots.length === 0) return Math.max(...group.ranks.map((rank) => fixed[rank] / speedOf(rank)));
  const model = program(
    placement,
    group,
    loads,
    group.ranks.map((rank) => -fixed[rank]),
    group.ranks.map(speedOf),
  );
  return solve(model)[group.slots.length];
}

/**
 * Columns: the share of each open slot, then T when `speeds` are given.
 * Rows: each expert's shares sum to its load; each rank's shares (less its speed x T) stay below `capacity`.
 */
function program(
  placement: Placement,
  group: Group,
  loads: ArrayLike<number>,
  capacity: readonly number[],
  speeds?: readonly number[],
) {
  const { slots, ranks } = group;
  const rankOf = rankOfSlots(placement);
  const experts = [...new Set(slots.map((slot) => placement.slotExpert[slot]))];
  const expertRow = new Map(experts.map((expert, i) => [expert, i]));
  const rankRow = new Map(ranks.map((rank, i) => [rank, experts.length + i]));
  const numCols = slots.length + (speeds ? 1 : 0);
  const starts: number[] = [];
  const indices: number[] = [];
  const values: number[] = [];
  for (const slot of slots) {
    starts.push(indices.length);
    indices.push(expertRow.get(placement.slotExpert[slot]) ?? 0, rankRow.get(rankOf[slot]) ?? 0);
    values.push(1, 1);
  }
  if (speeds) {
    starts.push(indices.length);
    speeds.forEach((speed, i) => {
      indices.push(experts.length + i);
      values.push(-speed);
    });
  }
  starts.push(indices.length);
  return {
    numCols,
    numRows: experts.length + ranks.length,
    colCost: Array.from({ length: numCols }, (_, column) => (column === slots.length ? 1 : 0)),
    colLower: new Array(numCols).fill(0),
    colUpper: new Array(numCols).fill(Infinity),
    rowLower: [...experts.map((expert) => loads[expert]), ...ranks.map(() => -Infinity)],
    rowUpper: [...experts.map((expert) => loads[expert]), ...capacity],
    matrix: { format: 'csc', numRows: experts.length + ranks.length, numCols, starts, indices, values },
  } as const;
}

/** Ranks joined by shared experts, with their open slots. */
function groupsOf(placement: Placement): Group[] {
  const { rankCount, slotExpert } = placement;
  const rankOf = rankOfSlots(placement);
  const counts = replicaCounts(placement);
  const parent = Int32Array.from({ length: rankCount }, (_, rank) => rank);
  const rootOf = (rank: number): number => {
    let root = rank;
    while (parent[root] !== root) root = parent[root];
    return root;
  };
  const firstRank = new Int32Array(placement.expertCount).fill(-1);
  slotExpert.forEach((expert, slot) => {
    if (expert === NO_EXPERT) return;
    if (firstRank[expert] < 0) firstRank[expert] = rankOf[slot];
    else parent[rootOf(rankOf[slot])] = rootOf(firstRank[expert]);
  });
  const groups = new Map<number, Group>();
  for (let rank = 0; rank < rankCount; rank++) {
    const root = rootOf(rank);
    const group = groups.get(root) ?? { ranks: [], slots: [] };
    group.ranks.push(rank);
    groups.set(root, group);
  }
  slotExpert.forEach((expert, slot) => {
    if (expert !== NO_EXPERT && counts[expert] > 1) groups.get(rootOf(rankOf[slot]))?.slots.push(slot);
  });
  return [...groups.values()];
}
