/**
 * The machine that is simulated: accelerators and how they are joined.
 * Base units throughout: bytes, seconds, FLOP/s. Every bandwidth is one direction.
 * How a topology turns into links is network's business; here it is only described.
 */
import type { Provenance } from './provenance.js';

/** Numbers of one kernel on one device, fitted to a user's own measurements: an entry of what `epsim calibrate -o` writes. */
export interface KernelFit {
  /** System and kernel: h200/low-latency-dispatch. */
  readonly profile: string;
  /** The time model whose parameters these are. */
  readonly model: string;
  /** Those that the rows told; the others stay as published. */
  readonly parameters: Readonly<Record<string, number>>;
  /** What the rows span: ep, tokens and the like, smallest and largest. */
  readonly range: Readonly<Record<string, readonly [number, number]>>;
  readonly medianError: number | null;
  /** Median error of rows whose group the fit did not see; null when there was one group. */
  readonly leaveGroupOutMedianError: number | null;
  readonly source: string;
}

export interface DeviceSpec {
  readonly name: string;
  readonly memoryBytes: number;
  readonly memoryBytesPerSec: number;
  /** Dense peak by the number format of the multiply; absent when the device has no such unit. */
  readonly flopsPerSec: { readonly bf16: number; readonly fp8?: number; readonly fp4?: number };
  readonly watts?: number;
  readonly smCount?: number;
  /** Name, date and address of the figures. */
  readonly source: string;
  /** A user's own fits on this device; they come before the published ones. */
  readonly fits?: readonly KernelFit[];
}

/** A class of links: nominal rate of one port, one direction, and the time before the first byte. */
export interface LinkSpec {
  readonly bytesPerSec: number;
  readonly latencyNs: number;
  /** Fraction of the nominal rate that real all-to-all kernels reach, with where that is known from. */
  readonly achieved: { readonly fraction: number; readonly source: string; readonly provenance: Provenance };
  readonly source: string;
}

/** Something that differs from the regular picture: a slow rank, a link that is down. */
export interface RankOverride {
  readonly rank: number;
  /** Compute and memory speed relative to the device, 1 = nominal. */
  readonly speed?: number;
  /** Bandwidth of the rank's network interface relative to nominal; 0 = down. */
  readonly nic?: number;
  /** Bandwidth of the rank's scale-up port relative to nominal; 0 = down. */
  readonly scaleUp?: number;
}

export interface ClusterSpec {
  readonly name: string;
  readonly source: string;
  readonly rankCount: number;
  readonly device: DeviceSpec;
  readonly topology: {
    /** A name in network's registry of topologies. */
    readonly kind: string;
    /** Ranks joined by the scale-up fabric (an NVLink domain). */
    readonly domainRanks: number;
    readonly scaleUp: LinkSpec;
    /** The network between domains; null when there is one domain only. */
    readonly scaleOut: LinkSpec | null;
    /** Further options of this kind, validated by its own schema. */
    readonly options: Readonly<Record<string, unknown>>;
  };
  readonly overrides: readonly RankOverride[];
  /** Cost of one accelerator for an hour in US dollars, when the user states it. */
  readonly dollarsPerHour?: number;
}
