/**
 * Work of a kernel and the time a device takes for it: the longer of multiplying and moving.
 * The one idea: a kernel is FLOPs, bytes and a number of launches; everything else is a fraction.
 * Does not know what the kernel computes.
 */
import type { DeviceSpec, Estimate } from '@epsim/spec';
import type { ComputeFormat, DeviceProfile } from './device-profile.js';

export interface Work {
  readonly flops: number;
  /** Bytes read and written in device memory. */
  readonly bytes: number;
  readonly kernels: number;
}

export const NO_WORK: Work = { flops: 0, bytes: 0, kernels: 0 };

export function addWork(...parts: readonly Work[]): Work {
  let flops = 0;
  let bytes = 0;
  let kernels = 0;
  for (const part of parts) {
    flops += part.flops;
    bytes += part.bytes;
    kernels += part.kernels;
  }
  return { flops, bytes, kernels };
}

/**
 * Peak of the wanted format, FLOP/s; the next wider one where the device has no such unit.
 * Throws RangeError when the device states no BF16 peak either.
 */
export function peakFlops(device: DeviceSpec, format: ComputeFormat): number {
  const { bf16, fp8 = bf16, fp4 = fp8 } = device.flopsPerSec;
  const peak = { bf16, fp8, fp4 }[format];
  if (!(peak > 0)) throw new RangeError(`peakFlops: ${device.name} has no peak for ${format}: ${peak}`);
  return peak;
}

/** Nanoseconds of `work`: launches, then the longer of the multiply and the memory side. */
export function rooflineNs(
  work: Work,
  device: DeviceSpec,
  profile: DeviceProfile,
  format: ComputeFormat = 'bf16',
): number {
  const { startNs, memoryFraction, computeFraction } = profile.dense;
  const compute = work.flops / (peakFlops(device, format) * computeFraction);
  const memory = work.bytes / (device.memoryBytesPerSec * memoryFraction);
  return work.kernels * startNs + 1e9 * Math.max(compute, memory);
}

/** An error bar for a prediction inside or outside the range of its profile; null when never measured. */
export function errorBar(profile: DeviceProfile, inRange: boolean): number | null {
  if (profile.leaveOutError === null) return null;
  return inRange ? profile.leaveOutError : 2 * profile.leaveOutError;
}

/** The roofline time with its source. Dense kernels carry the bar of what they were scored on. */
export function rooflineTime(
  work: Work,
  device: DeviceSpec,
  profile: DeviceProfile,
  format: ComputeFormat = 'bf16',
): Estimate {
  return {
    ns: rooflineNs(work, device, profile, format),
    provenance: 'derived',
    source: `roofline of ${device.name} at fractions of ${profile.name}`,
    relErrorBar: errorBar(profile, false),
  };
}
