/**
 * Models of kernels that follow a roofline: products and attention, with achieved fractions fitted.
 */
import { type DenseKernel, rooflineNs, type Work } from '@epsim/model';
import type { DeviceSpec } from '@epsim/spec';
import type { TimeModel } from '../experiment.js';

export const rooflineModel: TimeModel = {
  name: 'roofline',
  summary: 'start + the memory and the compute side at achieved fractions, partly overlapped',
  parameters: [
    { name: 'startNs', start: 5000, min: 100, max: 100_000 },
    { name: 'memoryFraction', start: 0.8, min: 0.05, max: 1 },
    { name: 'computeFraction', start: 0.6, min: 0.02, max: 1 },
    { name: 'overlapExponent', start: 2, min: 1, max: 8 },
  ],
};

/** Nanoseconds of `work` with the model's values. */
export function rooflineModelNs(
  work: Work,
  device: DeviceSpec,
  format: 'bf16' | 'fp8',
  values: readonly number[],
): number {
  const [startNs = 0, memoryFraction = 1, computeFraction = 1, overlapExponent = 1] = values;
  const kernel: DenseKernel = { startNs, memoryFraction, computeFraction, overlapExponent };
  return rooflineNs(work, device, kernel, format);
}
