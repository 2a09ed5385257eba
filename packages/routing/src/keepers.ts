/**
 * The best rows of each expert, as many as it has room for, while all rows come by once in ascending order.
 * A higher score is better; of equal scores the earlier row. What is kept is then known by the worst of it alone.
 */
import type { RoutingArena } from './arena.js';

export interface Keepers {
  /** Offers a row to an expert. Rows of one expert must come in ascending order. */
  offer(expert: number, score: number, row: number): void;
  /** Whether a row that was offered with this score is among the kept. */
  keeps(expert: number, score: number, row: number): boolean;
  /** Most experts that keep one and the same of `rowCount` rows. */
  maxKeptPerRow(rowCount: number): number;
}

/** No rows kept yet. `limits` is the room of each expert, [expertCount]; memory is the sum of it. */
export function createKeepers(arena: RoutingArena, limits: Int32Array): Keepers {
  const starts = new Int32Array(limits.length + 1);
  for (let e = 0; e < limits.length; e++) starts[e + 1] = starts[e] + limits[e];
  const total = starts[limits.length];
  // One heap per expert with the worst kept row at its root.
  const heap = { scores: arena.f32('kept scores', total), rows: arena.i32('kept rows', total) };
  const { scores, rows } = heap;
  const counts = new Int32Array(limits.length);
  /** Score of the worst kept row of each expert; minus infinity while there is room, infinity where there is none. */
  const worst = Float32Array.from(limits, (limit) => (limit > 0 ? -Infinity : Infinity));

  return {
    offer(expert, score, row) {
      if (!(score > worst[expert])) return;
      const base = starts[expert];
      if (counts[expert] < limits[expert]) {
        scores[base + counts[expert]] = score;
        rows[base + counts[expert]] = row;
        siftUp(heap, base, counts[expert]++);
      } else {
        scores[base] = score;
        rows[base] = row;
        siftDown(heap, base, limits[expert]);
      }
      if (counts[expert] === limits[expert]) worst[expert] = scores[base];
    },
    keeps(expert, score, row) {
      return score > worst[expert] || (score === worst[expert] && row <= rows[starts[expert]]);
    },
    maxKeptPerRow(rowCount) {
      const kept = arena.i32('experts that keep a row', rowCount).fill(0);
      let most = 0;
      for (let expert = 0; expert < limits.length; expert++) {
        for (let i = 0; i < counts[expert]; i++) {
          const count = ++kept[rows[starts[expert] + i]];
          if (count > most) most = count;
        }
      }
      return most;
    },
  };
}

/** Rows and their scores; the heap of one expert is a run of entries with its worst row first. */
interface Heap {
  readonly scores: Float32Array;
  readonly rows: Int32Array;
}

/** Whether the row at `a` should leave before the row at `b`. */
function leavesBefore({ scores, rows }: Heap, a: number, b: number): boolean {
  return scores[a] < scores[b] || (scores[a] === scores[b] && rows[a] > rows[b]);
}

function swap({ scores, rows }: Heap, a: number, b: number): void {
  const score = scores[a];
  const row = rows[a];
  scores[a] = scores[b];
  rows[a] = rows[b];
  scores[b] = score;
  rows[b] = row;
}

/** Moves the entry at `from` of the heap at `base` up to its place. */
function siftUp(heap: Heap, base: number, from: number): void {
  for (let at = from; at > 0; ) {
    const parent = (at - 1) >> 1;
    if (!leavesBefore(heap, base + at, base + parent)) return;
    swap(heap, base + at, base + parent);
    at = parent;
  }
}

/** Moves the first entry of the heap of `count` at `base` down to its place. */
function siftDown(heap: Heap, base: number, count: number): void {
  for (let at = 0, child = 1; child < count; child = 2 * at + 1) {
    if (child + 1 < count && leavesBefore(heap, base + child + 1, base + child)) child++;
    if (!leavesBefore(heap, base + child, base + at)) return;
    swap(heap, base + at, base + child);
    at = child;
  }
}
