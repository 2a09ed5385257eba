/**
 * How long bytes between the ranks of one stage take: a line in the number of tokens, and what a kernel adds.
 * One idea: on a given network the busiest link grows in proportion to tokens, so two calls of a network model
 * give every batch size. Knows matrices of bytes, not what they mean.
 */
import { type KernelCosts, ranksThatCross } from '@epsim/engine';
import { type Flows, listFlows, type NetworkModel, networkModels, type Topology } from '@epsim/network';
import type { ClusterSpec } from '@epsim/spec';

/** Nanoseconds that the links of each rank take for `tokens` of every rank: start + tokens x perToken, both [ranks]. */
export interface ExchangeLine {
  readonly sentStart: Float64Array;
  readonly sentPerToken: Float64Array;
  readonly receivedStart: Float64Array;
  readonly receivedPerToken: Float64Array;
  /** What moves the rows; null where only the links count. */
  readonly kernel: KernelCosts | null;
  /** 1 for ranks whose bytes cross domains, [ranks]. */
  readonly crosses: Uint8Array;
}

const MANY_TOKENS = 1e6;
const NEXT_TO_NOTHING = 1e-9;

/**
 * Bytes of one token from each rank to each, [ranks x ranks], to a line, by a model of the network. Latencies are
 * those of next to no bytes; the rest is in proportion to bytes, as both the bound and fair shares are. `topology`
 * has the links at the rates that `kernel` reaches.
 */
export function exchangeLine(
  network: NetworkModel,
  topology: Topology,
  bytesPerToken: Float64Array,
  kernel: KernelCosts | null = null,
): ExchangeLine {
  const flows = listFlows(topology, bytesPerToken);
  const few = networkModels.bound.transferFlows(topology, scaled(flows, NEXT_TO_NOTHING));
  const many = network.transferFlows(topology, scaled(flows, MANY_TOKENS));
  const slope = (start: number, rank: number, ends: Float64Array) => (ends[rank] - start) / MANY_TOKENS;
  return {
    sentStart: few.sentNs,
    sentPerToken: few.sentNs.map((start, r) => slope(start, r, many.sentNs)),
    receivedStart: few.receivedNs,
    receivedPerToken: few.receivedNs.map((start, r) => slope(start, r, many.receivedNs)),
    kernel,
    crosses: ranksThatCross(bytesPerToken, topology),
  };
}

/** When a rank has sent all of `tokens`, and received all that is for it, ns. */
export function sentNs(line: ExchangeLine, rank: number, tokens: number): number {
  return withKernel(line, rank, tokens, sentWireNs(line, rank, tokens));
}

export function receivedNs(line: ExchangeLine, rank: number, tokens: number): number {
  return withKernel(line, rank, tokens, receivedWireNs(line, rank, tokens));
}

/** The later of both. */
export function exchangeNs(line: ExchangeLine, rank: number, tokens: number): number {
  const wireNs = Math.max(sentWireNs(line, rank, tokens), receivedWireNs(line, rank, tokens));
  return withKernel(line, rank, tokens, wireNs);
}

function sentWireNs({ sentStart, sentPerToken }: ExchangeLine, rank: number, tokens: number): number {
  return sentStart[rank] + tokens * sentPerToken[rank];
}

function receivedWireNs(
  { receivedStart, receivedPerToken }: ExchangeLine,
  rank: number,
  tokens: number,
): number {
  return receivedStart[rank] + tokens * receivedPerToken[rank];
}

function withKernel({ kernel, crosses }: ExchangeLine, rank: number, tokens: number, wireNs: number): number {
  return kernel === null ? wireNs : kernel.rankNs(wireNs, tokens, crosses[rank] === 1);
}

function scaled(flows: Flows, factor: number): Flows {
  return { ...flows, bytes: flows.bytes.map((value) => value * factor) };
}

/** Bytes of a token-by-token exchange in groups of `ways` neighbours: each sends an equal part to each, [ranks x ranks]. */
export function groupBytes(ranks: number, ways: number, bytesPerRank: number): Float64Array {
  const out = new Float64Array(ranks * ranks);
  for (let from = 0; from < ranks; from++) {
    const first = from - (from % ways);
    for (let to = first; to < first + ways; to++)
      if (to !== from) out[from * ranks + to] = bytesPerRank / ways;
  }
  return out;
}

/**
 * `ranks` ranks of a cluster, spread evenly over as few scale-up domains as hold them, without what is slow or
 * down in a particular place.
 */
export function stageCluster(cluster: ClusterSpec, ranks: number): ClusterSpec {
  const { topology } = cluster;
  const domains = Math.ceil(ranks / topology.domainRanks);
  const domainRanks = domains === 1 ? topology.domainRanks : Math.ceil(ranks / domains);
  const uneven = ranks % domainRanks !== 0 && domains > 1;
  return {
    ...cluster,
    rankCount: ranks,
    overrides: [],
    topology: {
      ...topology,
      domainRanks,
      options: uneven ? { ...topology.options, unevenLastDomain: true } : topology.options,
    },
  };
}
