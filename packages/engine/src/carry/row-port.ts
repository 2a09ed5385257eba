/**
 * How rows get from one rank to another. A shard hands a block of encoded rows to its port and forgets it;
 * the receiver asks its own port how many rows have arrived from whom.
 */
import type { KernelMemory } from '@epsim/tensor';

/** The way out, and the way back. */
export type Leg = 'dispatch' | 'combine';

export interface RowPort {
  /** Takes the rows that `from` has for `to` on this leg, encoded, all at once. */
  deliver(leg: Leg, from: number, to: number, rows: Uint8Array): void;
  /** Rows that have arrived at `to` from `from` on this leg. */
  arrivedRows(leg: Leg, from: number, to: number): number;
}

/** Where the blocks of a layer land when all shards share their memories. */
export interface SharedRegions {
  readonly kind: 'shared';
  readonly memories: readonly KernelMemory[];
  readonly shardOfRank: Int32Array;
  /** Start of each rank's receive and reply regions in its shard's memory, [rankCount]. */
  readonly recv: Float64Array;
  readonly reply: Float64Array;
  /** First row of what s sends within d's receive region, and of what d returns within s's reply region, [s * ranks + d]. */
  readonly landOffsets: Int32Array;
  readonly replyOffsets: Int32Array;
  /** Rows arrived, [2 x rankCount x rankCount]: leg, sender, receiver. In shared memory; zeroed before each layer. */
  readonly arrived: Int32Array;
  readonly rowBytes: { readonly dispatch: number; readonly combine: number };
}

/** Copies straight into the receiver's region, at the offset that the plan gives. */
export function sharedPort(regions: SharedRegions): RowPort {
  const rankCount = regions.shardOfRank.length;
  const cell = (leg: Leg, from: number, to: number) =>
    (leg === 'dispatch' ? 0 : rankCount * rankCount) + from * rankCount + to;
  return {
    deliver(leg, from, to, rows) {
      const size = regions.rowBytes[leg];
      const base = leg === 'dispatch' ? regions.recv[to] : regions.reply[to];
      const row =
        leg === 'dispatch'
          ? regions.landOffsets[from * rankCount + to]
          : regions.replyOffsets[to * rankCount + from];
      const { buffer } = regions.memories[regions.shardOfRank[to]];
      new Uint8Array(buffer, base + row * size, rows.length).set(rows);
      Atomics.add(regions.arrived, cell(leg, from, to), rows.length / size);
    },
    arrivedRows: (leg, from, to) => Atomics.load(regions.arrived, cell(leg, from, to)),
  };
}

/** Where rows of a shard lie that is alone in its process, for one phase. */
export interface OutboxRegions {
  readonly kind: 'outbox';
  readonly memory: KernelMemory;
  readonly firstRank: number;
  readonly rankCount: number;
  readonly outbox: SharedArrayBuffer;
  /** First byte of the rows from each own rank to each rank, [own ranks x rankCount]. */
  readonly starts: Float64Array;
  /** Rows that have arrived for each own rank from each rank, [own ranks x rankCount]. */
  readonly arrived: Int32Array;
}

/** Leaves rows in the outbox, from where they travel on; what arrived was put in place before the phase. */
export function outboxPort({ firstRank, rankCount, outbox, starts, arrived }: OutboxRegions): RowPort {
  return {
    deliver(_leg, from, to, rows) {
      new Uint8Array(outbox, starts[(from - firstRank) * rankCount + to], rows.length).set(rows);
    },
    arrivedRows: (_leg, from, to) => arrived[(to - firstRank) * rankCount + from],
  };
}
