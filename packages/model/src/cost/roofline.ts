/**
 * Work of a kernel and the time a device takes for it: the longer of multiplying and moving.
 * The one idea: a kernel is FLOPs, bytes and a number of launches; everything else is a fraction.
 * Does not know what the kernel computes.
 */
import type { DeviceSpec, Estimate } from '@epsim/spec';
import type { ComputeFormat, DenseKernel, DeviceProfile } from './device-profile.js';

export interface Work {
  readonly flops: number;
  /** Bytes read and written in device memory. */
  readonly bytes: number;
  readonly kernels: number;
}

/** Twice the larger median error (0.09) on shapes left out of the fits of `dense` and `attention`: other devices borrow them. */
export const ROOFLINE_ERROR = 0.18;

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

/** (a^p + b^p)^(1/p): the sum at p = 1, the larger one for large p. */
export function combine(a: number, b: number, exponent: number): number {
  const large = Math.max(a, b);
  if (large === 0) return 0;
  return large * (1 + (Math.min(a, b) / large) ** exponent) ** (1 / exponent);
}

/** Nanoseconds of `work`: launches, then the memory and the compute side as far as they overlap. */
export function rooflineNs(
  work: Work,
  device: DeviceSpec,
  kernel: DenseKernel,
  format: ComputeFormat = 'bf16',
): number {
  const compute = work.flops / (peakFlops(device, format) * kernel.computeFraction);
  const memory = work.bytes / (device.memoryBytesPerSec * kernel.memoryFraction);
  return work.kernels * kernel.startNs + 1e9 * combine(compute, memory, kernel.overlapExponent);
}

/** An error bar for a prediction inside or outside the range of its profile; null when never measured. */
export function errorBar(profile: DeviceProfile, inRange: boolean): number | null {
  if (profile.leaveOutError === null) return null;
  return inRange ? profile.leaveOutError : 2 * profile.leaveOutError;
}

/**
 * The roofline time with its source. Its fractions were fitted to FP8 products and latent attention on one
 * device, so it counts as derived on all, with the error bar that was seen there when shapes were left out.
 */
export function rooflineTime(
  work: Work,
  device: DeviceSpec,
  profile: DeviceProfile,
  kernel: DenseKernel,
  format: ComputeFormat = 'bf16',
): Estimate {
  return {
    ns: rooflineNs(work, device, kernel, format),
    provenance: 'derived',
    source: `roofline of ${device.name} at fractions of ${profile.name}`,
    relErrorBar: ROOFLINE_ERROR,
  };
}
