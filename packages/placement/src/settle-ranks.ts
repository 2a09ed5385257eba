/**
 * Which rank takes which part of a new placement, where ranks are alike: each part goes where most of its experts
 * are already, so that fewest weights travel.
 * The one idea: ranks of a domain with equally many slots may swap their parts without changing any load, and the
 * best swap is an assignment problem. Knows nothing of speeds: callers settle only ranks that are equally fast.
 */
import { NO_EXPERT, type Placement } from '@epsim/spec';
import type { PlacedReplicas } from './policy.js';

/**
 * `to` with the parts of its ranks dealt out anew within each domain of `domainRanks` ranks, among ranks of equally
 * many slots. No other dealing keeps more slots as they are in `from`.
 * Throws RangeError when the two differ in ranks or slots.
 */
export function settleRanks(from: Placement, to: PlacedReplicas, domainRanks: number): PlacedReplicas {
  const { rankCount, slotOffsets } = to;
  if (from.rankCount !== rankCount || from.slotExpert.length !== to.slotExpert.length) {
    throw new RangeError(
      `placements of ${from.rankCount} ranks with ${from.slotExpert.length} slots and of ${rankCount} ranks with ${to.slotExpert.length} slots`,
    );
  }
  const slotExpert = to.slotExpert.slice();
  const slotReplica = to.slotReplica?.slice();
  for (const ranks of alikeRanks(slotOffsets, rankCount, domainRanks)) {
    const kept = ranks.map((part) => ranks.map((rank) => keptSlots(from, to, rank, part)));
    assignMost(kept).forEach((column, row) => {
      const [part, rank] = [ranks[row], ranks[column]];
      const slots = [slotOffsets[part], slotOffsets[part + 1]] as const;
      slotExpert.set(to.slotExpert.subarray(...slots), slotOffsets[rank]);
      if (slotReplica && to.slotReplica)
        slotReplica.set(to.slotReplica.subarray(...slots), slotOffsets[rank]);
    });
  }
  return { ...to, slotExpert, ...(slotReplica ? { slotReplica } : {}) };
}

/** Ranks of one domain with equally many slots, group by group. */
function alikeRanks(slotOffsets: Int32Array, rankCount: number, domainRanks: number): number[][] {
  const groups = new Map<string, number[]>();
  for (let rank = 0; rank < rankCount; rank++) {
    const key = `${Math.floor(rank / domainRanks)},${slotOffsets[rank + 1] - slotOffsets[rank]}`;
    const group = groups.get(key);
    if (group) group.push(rank);
    else groups.set(key, [rank]);
  }
  return [...groups.values()];
}

/** Slots of `rank` that need no new weights when it takes the part that `to` gives to rank `part`. */
function keptSlots(from: Placement, to: Placement, rank: number, part: number): number {
  const held = [...from.slotExpert.subarray(from.slotOffsets[rank], from.slotOffsets[rank + 1])];
  let kept = 0;
  for (let slot = to.slotOffsets[part]; slot < to.slotOffsets[part + 1]; slot++) {
    const at = to.slotExpert[slot] === NO_EXPERT ? -1 : held.indexOf(to.slotExpert[slot]);
    if (at < 0) continue;
    held.splice(at, 1);
    kept++;
  }
  return kept;
}

/**
 * The column for each row of a square matrix that makes the sum largest, each column once: the Hungarian method by
 * shortest augmenting paths, n^3 steps (Jonker and Volgenant 1987).
 */
export function assignMost(gain: readonly (readonly number[])[]): number[] {
  const n = gain.length;
  const rowPrice = new Float64Array(n + 1);
  const columnPrice = new Float64Array(n + 1);
  /** Row of each column, both from 1; column 0 holds the row that is being placed. */
  const rowOf = new Int32Array(n + 1);
  for (let row = 1; row <= n; row++) {
    rowOf[0] = row;
    const least = new Float64Array(n + 1).fill(Number.POSITIVE_INFINITY);
    const before = new Int32Array(n + 1);
    const done = new Uint8Array(n + 1);
    let column = 0;
    do {
      done[column] = 1;
      const at = rowOf[column];
      let step = Number.POSITIVE_INFINITY;
      let next = 0;
      for (let c = 1; c <= n; c++) {
        if (done[c]) continue;
        const slack = -gain[at - 1][c - 1] - rowPrice[at] - columnPrice[c];
        if (slack < least[c]) {
          least[c] = slack;
          before[c] = column;
        }
        if (least[c] < step) {
          step = least[c];
          next = c;
        }
      }
      for (let c = 0; c <= n; c++) {
        if (done[c]) {
          rowPrice[rowOf[c]] += step;
          columnPrice[c] -= step;
        } else least[c] -= step;
      }
      column = next;
    } while (rowOf[column] !== 0);
    while (column !== 0) {
      rowOf[column] = rowOf[before[column]];
      column = before[column];
    }
  }
  const columnOf = new Array<number>(n);
  for (let c = 1; c <= n; c++) columnOf[rowOf[c] - 1] = c - 1;
  return columnOf;
}
