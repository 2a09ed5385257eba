/**
 * Per-node dispatch: a row crosses the network once per destination domain and is spread inside it.
 * One idea: it lands on the rank of the sender's own place in that domain (its rail), which forwards it over
 * scale-up. Works in whatever is additive: rows or bytes.
 * Does not know which tokens the rows are; who plans counts a row once per domain and once per rank.
 */
import type { Topology } from './topology.js';

export interface Forwarding {
  /** From each sender to its peer in each other domain, row-major [rankCount x rankCount]. */
  readonly across: Float64Array;
  /**
   * From peers and from senders to the ranks of their own domain, [rankCount x rankCount]; the diagonal is what
   * a peer keeps for itself. No pair is in both matrices, so their sum is the exchange when both stages overlap.
   */
  readonly within: Float64Array;
}

export interface DomainMap {
  readonly domainCount: number;
  /** Ranks of domain d: members[offsets[d]] .. members[offsets[d + 1] - 1], ascending. */
  readonly offsets: Int32Array;
  readonly members: Int32Array;
}

/** The ranks of each domain. */
export function domainMap(topology: Topology): DomainMap {
  const { rankCount } = topology;
  let domainCount = 0;
  for (let rank = 0; rank < rankCount; rank++)
    domainCount = Math.max(domainCount, topology.domainOf(rank) + 1);
  const offsets = new Int32Array(domainCount + 1);
  for (let rank = 0; rank < rankCount; rank++) offsets[topology.domainOf(rank) + 1] += 1;
  for (let domain = 0; domain < domainCount; domain++) offsets[domain + 1] += offsets[domain];
  const members = new Int32Array(rankCount);
  const next = offsets.slice();
  for (let rank = 0; rank < rankCount; rank++) members[next[topology.domainOf(rank)]++] = rank;
  return { domainCount, offsets, members };
}

/** The rank of `domain` that takes the rows of `rank`: the same place, counted round in a smaller domain. */
export function peerIn(topology: Topology, map: DomainMap, rank: number, domain: number): number {
  const place = rank - map.members[map.offsets[topology.domainOf(rank)]];
  const size = map.offsets[domain + 1] - map.offsets[domain];
  return map.members[map.offsets[domain] + (place % size)];
}

/**
 * Splits per-node traffic into its two stages.
 * `perDomain` [rankCount x domainCount] counts a row once for each domain that it goes to, `perRank`
 * [rankCount x rankCount] once for each rank. The way back is both stages transposed, in reverse order.
 * Throws RangeError when a shape does not fit the topology.
 */
export function forwardPerNode(
  topology: Topology,
  perDomain: ArrayLike<number>,
  perRank: ArrayLike<number>,
): Forwarding {
  const { rankCount } = topology;
  const map = domainMap(topology);
  if (perDomain.length !== rankCount * map.domainCount || perRank.length !== rankCount * rankCount) {
    throw new RangeError(
      `perDomain has ${perDomain.length} and perRank ${perRank.length} entries, the topology ${rankCount} ranks in ${map.domainCount} domains`,
    );
  }
  const across = new Float64Array(rankCount * rankCount);
  const within = new Float64Array(rankCount * rankCount);
  for (let source = 0; source < rankCount; source++) {
    for (let domain = 0; domain < map.domainCount; domain++) {
      const home = domain === topology.domainOf(source);
      const holder = home ? source : peerIn(topology, map, source, domain);
      if (!home) across[source * rankCount + holder] += perDomain[source * map.domainCount + domain];
      for (let at = map.offsets[domain]; at < map.offsets[domain + 1]; at++) {
        const target = map.members[at];
        within[holder * rankCount + target] += perRank[source * rankCount + target];
      }
    }
  }
  return { across, within };
}
