/**
 * The pairs that really send, with the links they use: what every network model works on.
 * One idea: one flat table, so that a model is loops over typed arrays.
 * Does not know how capacity is shared.
 */
import type { Topology } from './topology.js';
import type { MessageCosts, Transfer } from './transfer.js';

export interface Flows {
  readonly count: number;
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly bytes: Float64Array;
  /** Links of flow f: pathLinks[pathOffsets[f]] .. pathLinks[pathOffsets[f + 1] - 1]. */
  readonly pathOffsets: Int32Array;
  readonly pathLinks: Int32Array;
  /** Sum of link latencies on the way, [count]. */
  readonly latencyNs: Float64Array;
}

/** Lists the flows of a byte matrix, [rankCount x rankCount]; pairs with 0 bytes and the diagonal are none. */
export function listFlows(topology: Topology, bytesPerPair: Float64Array): Flows {
  const { rankCount } = topology;
  const count = countFlows(rankCount, bytesPerPair);
  const from = new Int32Array(count);
  const to = new Int32Array(count);
  const bytes = new Float64Array(count);
  const latencyNs = new Float64Array(count);
  const pathOffsets = new Int32Array(count + 1);
  const linkLatencyNs = Float64Array.from(topology.links, (link) => link.latencyNs);
  const path = new Int32Array(topology.maxHops);
  let links: Int32Array = new Int32Array(count * 2 + topology.maxHops);
  let used = 0;
  let flow = 0;
  for (let s = 0; s < rankCount; s++) {
    for (let d = 0; d < rankCount; d++) {
      const pairBytes = bytesPerPair[s * rankCount + d];
      if (s === d || pairBytes === 0) continue;
      const hops = topology.path(s, d, path);
      if (used + hops > links.length) links = grown(links, used + hops);
      for (let hop = 0; hop < hops; hop++) {
        links[used + hop] = path[hop];
        latencyNs[flow] += linkLatencyNs[path[hop]];
      }
      used += hops;
      from[flow] = s;
      to[flow] = d;
      bytes[flow] = pairBytes;
      flow += 1;
      pathOffsets[flow] = used;
    }
  }
  return { count, from, to, bytes, pathOffsets, pathLinks: links.subarray(0, used), latencyNs };
}

function grown(links: Int32Array, needed: number): Int32Array {
  const larger = new Int32Array(Math.max(needed, Math.ceil(links.length * 1.5)));
  larger.set(links);
  return larger;
}

function countFlows(rankCount: number, bytesPerPair: Float64Array): number {
  if (bytesPerPair.length !== rankCount * rankCount) {
    throw new RangeError(
      `bytesPerPair has ${bytesPerPair.length} entries, the topology ${rankCount} x ${rankCount} pairs of ranks`,
    );
  }
  let count = 0;
  for (let pair = 0; pair < bytesPerPair.length; pair++) {
    const bytes = bytesPerPair[pair];
    if (!(bytes >= 0 && bytes < Number.POSITIVE_INFINITY)) {
      const s = Math.floor(pair / rankCount);
      throw new RangeError(
        `bytesPerPair[${s}, ${pair % rankCount}] is ${bytes}; bytes are finite and 0 or more`,
      );
    }
    if (bytes > 0 && pair % (rankCount + 1) !== 0) count += 1;
  }
  return count;
}

/** Bytes over each link, [links], written to `out`. */
export function addLinkBytes(flows: Flows, out: Float64Array): Float64Array {
  const { count, bytes, pathOffsets, pathLinks } = flows;
  for (let flow = 0; flow < count; flow++) {
    for (let hop = pathOffsets[flow]; hop < pathOffsets[flow + 1]; hop++) out[pathLinks[hop]] += bytes[flow];
  }
  return out;
}

/** What each sender pays for its messages before its bytes flow, [rankCount]. */
export function issueNs(topology: Topology, flows: Flows, costs: MessageCosts | undefined): Float64Array {
  const { rankCount } = topology;
  const issue = new Float64Array(rankCount);
  if (costs === undefined) return issue;
  for (const field of ['startNs', 'perMessageNs', 'notifyNs'] as const) {
    if (!(costs[field] >= 0)) throw new RangeError(`costs.${field} is ${costs[field]}; times are 0 or more`);
  }
  const messages = costs.messagesPerPair;
  if (messages !== undefined && messages.length !== rankCount * rankCount) {
    throw new RangeError(
      `messagesPerPair has ${messages.length} entries, the topology ${rankCount} x ${rankCount} pairs`,
    );
  }
  for (let flow = 0; flow < flows.count; flow++) {
    const s = flows.from[flow];
    issue[s] += costs.perMessageNs * (messages === undefined ? 1 : messages[s * rankCount + flows.to[flow]]);
  }
  return issue;
}

/** Collects the end of each flow into what a rank sees of it. */
export interface RankClock {
  readonly sentNs: Float64Array;
  readonly receivedNs: Float64Array;
  /** The flow has left its sender at `sentNs` and arrived at `arrivedNs`, counted from the first byte of anyone. */
  end(flow: number, sentNs: number, arrivedNs: number): void;
}

/** A clock on which every rank starts at startNs and knows at notifyNs after its last byte. */
export function rankClock(topology: Topology, flows: Flows, costs: MessageCosts | undefined): RankClock {
  const startNs = costs?.startNs ?? 0;
  const notifyNs = costs?.notifyNs ?? 0;
  const sentNs = new Float64Array(topology.rankCount).fill(startNs);
  const receivedNs = new Float64Array(topology.rankCount).fill(startNs + notifyNs);
  return {
    sentNs,
    receivedNs,
    end(flow, sent, arrived) {
      const s = flows.from[flow];
      const d = flows.to[flow];
      if (startNs + sent > sentNs[s]) sentNs[s] = startNs + sent;
      if (startNs + arrived + notifyNs > receivedNs[d]) receivedNs[d] = startNs + arrived + notifyNs;
    },
  };
}

/** Puts the answer of a model together. */
export function transferOf(
  topology: Topology,
  clock: RankClock,
  linkBytes: Float64Array,
  relTolerance: number,
): Transfer {
  let ns = 0;
  for (const received of clock.receivedNs) ns = Math.max(ns, received);
  let busiestLink = -1;
  let longest = 0;
  for (let link = 0; link < linkBytes.length; link++) {
    const drain = linkBytes[link] === 0 ? 0 : linkBytes[link] / topology.links[link].bytesPerSec;
    if (drain <= longest) continue;
    longest = drain;
    busiestLink = link;
  }
  return { ns, sentNs: clock.sentNs, receivedNs: clock.receivedNs, linkBytes, busiestLink, relTolerance };
}
