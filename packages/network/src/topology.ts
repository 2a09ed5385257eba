/**
 * What a built network is: named links, and the links that a flow between two ranks uses.
 * One idea: a full-duplex port is two links, one out and one in, so that every capacity is one direction.
 * Knows nothing about time, tokens or experts.
 */
import type { ClusterSpec } from '@epsim/spec';
import type { z } from 'zod';

export type Tier = 'scale-up' | 'scale-out';

export interface Link {
  /** Unique in its topology: `rank3.scale-up.out`, `domain0.nic2.in`, `leaf1.up`. */
  readonly name: string;
  readonly tier: Tier;
  /** What flows can really use: nominal rate x achieved fraction x what overrides leave of it. */
  readonly bytesPerSec: number;
  /** Time that the first byte spends on this link; a path's latency is the sum over its links. */
  readonly latencyNs: number;
}

export interface Topology {
  readonly rankCount: number;
  readonly links: readonly Link[];
  /** Length that the `out` of `path` needs. */
  readonly maxHops: number;
  /** Tier of the slowest kind of link between the pair; 'local' on the diagonal. */
  tierOf(from: number, to: number): 'local' | Tier;
  /** Writes the links of the flow from -> to, in order, as indices into `links`; returns how many (0 on the diagonal). */
  path(from: number, to: number, out: Int32Array): number;
  /** Scale-up domain of a rank, counted from 0. */
  domainOf(rank: number): number;
}

export interface TopologyKind {
  readonly summary: string;
  readonly options: z.ZodType;
  /** Throws RangeError that names the field and the repair when the description cannot be a network. */
  build(cluster: ClusterSpec): Topology;
}
