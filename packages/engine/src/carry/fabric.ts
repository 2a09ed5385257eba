/**
 * How the shards of a session are reached: who holds their memories, how a layer's calls get there and how
 * results come back. A session lays a layer out and compares results; a fabric moves and computes it.
 * Two fabrics exist: one whose shards share memory with the session, and one whose shards live in other processes.
 */
import type { Placement } from '@epsim/spec';
import type { RankPlan } from './rank-plan.js';
import type { ShardLayout, ShardSpec } from './shard-layout.js';

/** What one shard has to do in a layer. */
export interface ShardPart {
  readonly spec: ShardSpec;
  readonly layout: ShardLayout;
  /** Plans of its ranks, in rank order. */
  readonly plans: readonly RankPlan[];
  /** Expert of each of its slots. */
  readonly slotExpert: Int32Array;
  /** Hidden states of each of its ranks, where they come from outside. */
  readonly hidden?: readonly Float32Array[];
}

/** One layer, laid out. */
export interface LayerWork {
  readonly step: number;
  readonly layer: number;
  readonly placement: Placement;
  /** By shard. */
  readonly parts: readonly ShardPart[];
  /** By rank. */
  readonly plans: readonly RankPlan[];
  readonly shardOfRank: Int32Array;
  readonly rowBytes: { readonly dispatch: number; readonly combine: number };
  /** Bytes that a shard's memory needs at most over the run, by shard. */
  readonly mostBytes: readonly number[];
}

export interface CarriedLayer {
  /** Bytes of rows that arrived, out and back. */
  readonly receivedBytes: number;
  /** Results of one rank, [tokens x hiddenSize]; valid until the next layer. */
  output(rank: number): Float32Array;
}

export interface ShardFabric {
  /** Takes the layer through all phases. Throws TransportError or ClusterFailure when it cannot. */
  carryLayer(work: LayerWork): Promise<CarriedLayer>;
  close(): Promise<void>;
}
