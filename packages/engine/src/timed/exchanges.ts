/**
 * The kernels that move rows, and what they cost beside the links: a start, messages, packing, and the share of
 * the nominal rate that they reach. The network model times uneven pairs; this adds a kernel's own part per rank.
 * Figures are fitted to published measurements by calibration; without any, the links' own figures are taken.
 */
import {
  type ExchangeKernel,
  type LinkCosts,
  linkCosts,
  USUAL_SM_COUNT,
  workingUnits,
} from '@epsim/calibration';
import { combine } from '@epsim/model';
import type { NetworkModel, Topology, TopologyKind, Transfer } from '@epsim/network';
import type { ClusterSpec, DispatchPlan, Provenance, Scenario } from '@epsim/spec';
import { z } from 'zod';

export interface ExchangeChoice {
  readonly summary: string;
  readonly options: z.ZodType;
  /** The kernel for a scenario; null where only the links count. */
  kernel(scenario: Scenario): ExchangeKernel | null;
}

const options = z.strictObject({});

/** By name; a new one is a line here, and its measurements are a table of calibration. */
export const exchanges: Readonly<Record<string, ExchangeChoice>> = {
  auto: {
    summary: 'low latency for decode, one-sided inside one large domain, normal kernels otherwise',
    options,
    kernel({ cluster, phase }) {
      const oneDomain = cluster.rankCount <= cluster.topology.domainRanks;
      if (oneDomain && cluster.topology.domainRanks > 8) return 'one-sided';
      return phase === 'decode' ? 'low-latency' : 'normal';
    },
  },
  'low-latency': {
    summary: 'a message for each row, few bytes at a time',
    options,
    kernel: () => 'low-latency',
  },
  normal: { summary: 'kernels for many tokens, forwarding inside a node', options, kernel: () => 'normal' },
  'one-sided': {
    summary: 'ranks write into each other inside one domain',
    options,
    kernel: () => 'one-sided',
  },
  nominal: {
    summary: 'links alone: latency, and bytes over their achieved rate',
    options,
    kernel: () => null,
  },
};

/** One direction of the exchange on a cluster. */
export interface Exchange {
  readonly topology: Topology;
  readonly provenance: Provenance;
  readonly source: string;
  readonly relErrorBar: number | null;
  /** When each rank has sent and received, and what the links carried, for bytes from s to d. */
  transfer(bytesPerPair: Float64Array, plan: DispatchPlan): Transfer;
}

/** What a kernel adds to the time of the links, and the cluster with links at the rates that it reaches. */
export interface KernelCosts extends Pick<LinkCosts, 'provenance' | 'source' | 'relErrorBar'> {
  /** Its links have no latency: the kernel's start holds it. */
  readonly cluster: ClusterSpec;
  /** Nanoseconds of a rank with `tokens` whose links take `wireNs`; `crosses` where bytes leave its domain. */
  rankNs(wireNs: number, tokens: number, crosses: boolean): number;
}

/** The costs of a scenario's kernel; null where only the links count, or no system was measured. */
export function kernelCosts(
  scenario: Scenario,
  direction: 'dispatch' | 'combine',
  choice: ExchangeChoice,
): KernelCosts | null {
  const { cluster, workload } = scenario;
  const { moe } = scenario.model;
  const kernel = choice.kernel(scenario);
  if (kernel === null) return null;
  const measuredAt = { ep: cluster.rankCount, hidden: moe.expertWidth, tokens: workload.tokensPerRank };
  const costs = linkCosts(cluster.device, kernel, direction, measuredAt);
  if (costs === null) return null;
  const { link, provenance, relErrorBar } = costs;
  const units = workingUnits(moe.expertCount, cluster.device.smCount ?? USUAL_SM_COUNT);
  const startNs = link.startNs + link.perMessageNs * moe.expertCount;
  return {
    ...{ provenance, relErrorBar, source: `${kernel} kernels: ${costs.source}` },
    cluster: withFractions(cluster, costs),
    rankNs: (wireNs, tokens, crosses) =>
      combine(
        startNs + (crosses ? link.outStartNs : 0),
        wireNs + (link.rowNs * tokens) / units,
        link.overlapExponent,
      ),
  };
}

export function createExchange(
  scenario: Scenario,
  direction: 'dispatch' | 'combine',
  choice: ExchangeChoice,
  kind: TopologyKind,
  network: NetworkModel,
): Exchange {
  const kernel = kernelCosts(scenario, direction, choice);
  if (kernel === null) return plainExchange(scenario.cluster, kind, network);
  const { provenance, source, relErrorBar } = kernel;
  const topology = kind.build(kernel.cluster);
  return {
    ...{ topology, provenance, source, relErrorBar },
    transfer(bytesPerPair, plan) {
      const wire = network.transfer(topology, bytesPerPair);
      const crossing = ranksThatCross(bytesPerPair, topology);
      const { tokenOffsets } = plan.routing;
      const addKernel = (ns: Float64Array) =>
        ns.map((wireNs, rank) =>
          kernel.rankNs(wireNs, tokenOffsets[rank + 1] - tokenOffsets[rank], crossing[rank] === 1),
        );
      const sentNs = addKernel(wire.sentNs);
      const receivedNs = addKernel(wire.receivedNs);
      return { ...wire, sentNs, receivedNs, ns: Math.max(...sentNs, ...receivedNs) };
    },
  };
}

function plainExchange(cluster: ClusterSpec, kind: TopologyKind, network: NetworkModel): Exchange {
  const topology = kind.build(cluster);
  const { domainRanks, scaleUp, scaleOut } = cluster.topology;
  const { achieved } = scaleOut && cluster.rankCount > domainRanks ? scaleOut : scaleUp;
  return {
    topology,
    provenance: achieved.provenance,
    source: achieved.source,
    relErrorBar: null,
    transfer: (bytesPerPair) => network.transfer(topology, bytesPerPair),
  };
}

/** The cluster with the shares of the nominal rates that the kernel reaches; its start holds the latencies. */
function withFractions(cluster: ClusterSpec, { link, provenance, source }: LinkCosts): ClusterSpec {
  const { scaleUp, scaleOut } = cluster.topology;
  const achieved = (fraction: number) => ({ fraction, provenance, source });
  return {
    ...cluster,
    topology: {
      ...cluster.topology,
      scaleUp: { ...scaleUp, latencyNs: 0, achieved: achieved(link.upFraction) },
      scaleOut: scaleOut && { ...scaleOut, latencyNs: 0, achieved: achieved(link.outFraction) },
    },
  };
}

/** 1 for ranks that send to or receive from another domain, [ranks]. */
export function ranksThatCross(bytesPerPair: Float64Array, topology: Topology): Uint8Array {
  const n = topology.rankCount;
  const crossing = new Uint8Array(n);
  for (let s = 0; s < n; s++) {
    for (let d = 0; d < n; d++) {
      if (bytesPerPair[s * n + d] === 0 || topology.tierOf(s, d) !== 'scale-out') continue;
      crossing[s] = 1;
      crossing[d] = 1;
    }
  }
  return crossing;
}
