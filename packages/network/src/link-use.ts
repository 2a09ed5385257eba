/**
 * What an exchange did to the network, in the terms that people ask for: bytes by tier, the hottest links by name.
 */
import type { Tier, Topology } from './topology.js';
import type { Transfer } from './transfer.js';

export interface TierBytes {
  /** Bytes of the diagonal: they never leave their rank. */
  readonly local: number;
  readonly scaleUp: number;
  readonly scaleOut: number;
}

/** Sorts a byte matrix, [rankCount x rankCount], by the tier of each pair. */
export function bytesPerTier(topology: Topology, bytesPerPair: ArrayLike<number>): TierBytes {
  const { rankCount } = topology;
  const sums = { local: 0, 'scale-up': 0, 'scale-out': 0 };
  for (let from = 0; from < rankCount; from++) {
    for (let to = 0; to < rankCount; to++)
      sums[topology.tierOf(from, to)] += bytesPerPair[from * rankCount + to];
  }
  return { local: sums.local, scaleUp: sums['scale-up'], scaleOut: sums['scale-out'] };
}

export interface LinkUse {
  readonly name: string;
  readonly tier: Tier;
  readonly bytes: number;
  /** Time that the link needs for its bytes at its usable rate. */
  readonly busyNs: number;
  /** That time over the time of the whole exchange. */
  readonly busyFraction: number;
}

/** Use of every link, in the topology's order. */
export function linkUse(topology: Topology, transfer: Transfer): LinkUse[] {
  return topology.links.map(({ name, tier, bytesPerSec }, link) => {
    const bytes = transfer.linkBytes[link];
    const busyNs = bytes === 0 ? 0 : (bytes / bytesPerSec) * 1e9;
    return { name, tier, bytes, busyNs, busyFraction: transfer.ns === 0 ? 0 : busyNs / transfer.ns };
  });
}

/** The `count` links that are busy longest, busiest first, equals in the topology's order; idle links are left out. */
export function hottestLinks(topology: Topology, transfer: Transfer, count: number): LinkUse[] {
  return linkUse(topology, transfer)
    .filter((link) => link.bytes > 0)
    .sort((a, b) => b.busyNs - a.busyNs)
    .slice(0, count);
}
