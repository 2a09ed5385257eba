/**
 * Models of the experts' grouped multiply: the kernel of @epsim/model with some of its numbers fitted.
 * The one idea: the formula lives in the model package; here stand only which numbers are free, and their bounds.
 */
import {
  type ExpertKernel,
  type ExpertLoad,
  type ExpertSizes,
  expertNs,
  type FittedNumber,
  type KernelTemplate,
} from '@epsim/model';
import type { DeviceSpec } from '@epsim/spec';
import { type Parameter, recordOf, rememberLast, type TimeModel } from '../experiment.js';

const bounds: Readonly<Record<FittedNumber, Omit<Parameter, 'name'>>> = {
  startNs: { start: 30_000, min: 500, max: 300_000 },
  memoryFraction: { start: 0.7, min: 0.05, max: 1 },
  computeFraction: { start: 0.5, min: 0.02, max: 1 },
  rereadFraction: { start: 0.5, min: 0, max: 1.5 },
  overlapExponent: { start: 1.7, min: 1, max: 8 },
  permuteFraction: { start: 0.5, min: 0.02, max: 4 },
  tileNs: { start: 50, min: 0, max: 2000 },
};

function freeNumbers(...names: readonly FittedNumber[]): Parameter[] {
  return names.map((name) => ({ name, ...bounds[name] }));
}

export const expertModel: TimeModel = {
  name: 'experts',
  summary: 'start + streamed weights and whole tiles of activated experts + permutation of presented rows',
  parameters: freeNumbers(
    'startNs',
    'memoryFraction',
    'computeFraction',
    'rereadFraction',
    'overlapExponent',
    'permuteFraction',
    'tileNs',
  ),
};

/** One grouped multiply alone, or a fused layer: nothing is permuted apart and tiles cost nothing beside their work. */
export const groupedModel: TimeModel = {
  name: 'grouped',
  summary: 'start + streamed weights and whole tiles of activated experts',
  parameters: freeNumbers(
    'startNs',
    'memoryFraction',
    'computeFraction',
    'rereadFraction',
    'overlapExponent',
  ),
};

/** A whole layer in one kernel, with fewer rows to tell: weights are read once per expert. */
export const fusedModel: TimeModel = {
  name: 'fused',
  summary: 'start + weights of activated experts, read once, and whole tiles',
  parameters: freeNumbers('startNs', 'memoryFraction', 'computeFraction', 'overlapExponent'),
};

/**
 * Makes kernels with a model's values in them. Rows are permuted at memory speed, tiles are plain and
 * weights are read once where the model has no number for it.
 * A fit asks for the same values once per row; the kernel made last is kept.
 */
export function kernelMaker(
  template: KernelTemplate,
  model: TimeModel,
): (values: readonly number[]) => ExpertKernel {
  return rememberLast((values: readonly number[]) => {
    const numbers = { permuteFraction: 1, tileNs: 0, rereadFraction: 0, ...recordOf(model, values) };
    return { ...template, ...(numbers as Record<FittedNumber, number>) };
  });
}

/** Distinct row counts of a load, smallest first, and how many slots have each: what makes thousands of predictions cheap. */
export function histogramOf(tokensPerSlot: Int32Array): ExpertLoad & { slotsPerEntry: Int32Array } {
  const counts = new Map<number, number>();
  for (const rows of tokensPerSlot) counts.set(rows, (counts.get(rows) ?? 0) + 1);
  const tokens = Int32Array.from(counts.keys()).sort();
  return { tokensPerSlot: tokens, slotsPerEntry: tokens.map((rows) => counts.get(rows) ?? 0) };
}

/** Mean time over several draws of a load. */
export function meanExpertNs(
  loads: readonly ExpertLoad[],
  sizes: ExpertSizes,
  device: DeviceSpec,
  kernel: ExpertKernel,
): number {
  let sum = 0;
  for (const load of loads) sum += expertNs(load, sizes, device, kernel);
  return sum / loads.length;
}
