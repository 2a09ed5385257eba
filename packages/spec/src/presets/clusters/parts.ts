/**
 * What cluster presets have in common: links made of a device's vendor figures and of what kernels reach of them.
 */
import type { ClusterSpec, LinkSpec } from '../../cluster-spec.js';
import type { DevicePreset } from '../devices/device-preset.js';

export interface ClusterPreset {
  readonly summary: string;
  /** As many ranks as one scale-up domain has; a scenario says how many it wants. */
  readonly cluster: ClusterSpec;
}

export type Achieved = LinkSpec['achieved'];

/** Reached by all-to-all kernels, by published measurements (fitted) or by analogy with a relative (derived). */
export const achieved = {
  nvlinkNcclH100: {
    fraction: 0.7,
    source: 'NCCL all-to-all on 8 x H100, 512 MiB: 315.2 of 450 GB/s (aiconfigurator tables at 095f58a5)',
    provenance: 'fitted',
  },
  nvlinkDeepEpH800: {
    fraction: 0.765,
    source: 'DeepEP normal kernels, EP8 on H800: 153 of 200 GB/s (DeepEP legacy README at dd758caf)',
    provenance: 'fitted',
  },
  nvlinkDeepEpB200: {
    fraction: 0.807,
    source: 'DeepEP V2, EP8, 64 SMs: 726 of 900 GB/s (DeepEP README at dd758caf)',
    provenance: 'fitted',
  },
  nvlinkOneSidedGb200: {
    fraction: 0.732,
    source: 'TensorRT-LLM one-sided all-to-all, EP8, batch 2048: 659 of 900 GB/s on the wire',
    provenance: 'fitted',
  },
  rdmaDeepEpH800: {
    fraction: 0.78,
    source: 'DeepEP low-latency kernels, EP256 on H800: 39 of 50 GB/s (DeepEP legacy README at dd758caf)',
    provenance: 'fitted',
  },
} as const satisfies Record<string, Achieved>;

/** The same ratio for a device on which nobody published it. */
export function byAnalogy(known: Achieved, relative: string): Achieved {
  return {
    fraction: known.fraction,
    source: `assumed as for ${relative}: ${known.source}`,
    provenance: 'derived',
  };
}

const SCALE_UP_LATENCY_NS = 2000;
const NIC_LATENCY_NS = 5000;

/** What a preset says beside its links. */
export interface ClusterShape {
  /** A name in network's registry of topologies, a switched domain when absent, and its options. */
  readonly kind?: string;
  readonly options?: Readonly<Record<string, unknown>>;
  /** Ranks of a domain where it is a part of what the vendor's fabric can join. */
  readonly domainRanks?: number;
}

/**
 * A cluster of one device with the scale-up domain and the network interface that its vendor gives it.
 * Latencies are assumptions, the same for all: 2 us for a one-sided write and its flag inside a domain, 5 us for
 * an RDMA write between domains.
 */
export function clusterOf(
  name: string,
  preset: DevicePreset,
  links: { readonly scaleUp: Achieved; readonly nic: Achieved },
  shape: ClusterShape = {},
): ClusterSpec {
  const { kind = 'nvlink-domain', options = {}, domainRanks = preset.domainRanks } = shape;
  if (preset.scaleUpBytesPerSec === null || preset.nicBytesPerSec === null) {
    throw new RangeError(
      `invariant: cluster preset ${name} needs link figures that ${preset.device.name} lacks`,
    );
  }
  const figures = `${preset.device.name}: ${preset.device.source}`;
  return {
    name,
    source: preset.device.source,
    rankCount: domainRanks,
    device: preset.device,
    topology: {
      kind,
      domainRanks,
      scaleUp: {
        bytesPerSec: preset.scaleUpBytesPerSec,
        latencyNs: SCALE_UP_LATENCY_NS,
        achieved: links.scaleUp,
        source: `${figures}; latency 2 us assumed`,
      },
      scaleOut: {
        bytesPerSec: preset.nicBytesPerSec,
        latencyNs: NIC_LATENCY_NS,
        achieved: links.nic,
        source: `${figures}; latency 5 us assumed`,
      },
      options,
    },
    overrides: [],
  };
}
