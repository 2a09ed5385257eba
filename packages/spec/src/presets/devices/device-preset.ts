/**
 * A device as its vendor describes it: dense peaks, memory, and the ports that leave it.
 * What kernels really reach of these figures is not here: it stands at the links of a cluster, with its own source.
 */
import type { DeviceSpec } from '../../cluster-spec.js';

export interface DevicePreset {
  readonly device: DeviceSpec;
  /** Scale-up bandwidth of one device, one direction; null when not verified. */
  readonly scaleUpBytesPerSec: number | null;
  /** Devices that the vendor's scale-up fabric joins. */
  readonly domainRanks: number;
  /** Network bandwidth of one device, one direction; null when not verified. */
  readonly nicBytesPerSec: number | null;
  /** Where sources disagree, which figure was kept and why. */
  readonly notes: readonly string[];
}

export const GB = 1e9;
export const TFLOPS = 1e12;
