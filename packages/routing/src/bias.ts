/**
 * Arithmetic on selection biases.
 */
import type { RouterContext } from './policy.js';

/** A fresh copy of the bias that the model starts with, [expertCount]. */
export function startingBias(context: RouterContext): Float32Array {
  return context.initialBias ? context.initialBias.slice() : new Float32Array(context.expertCount);
}

/** Subtracts the mean from every entry, in place. */
export function centre(bias: Float64Array): void {
  let sum = 0;
  for (const b of bias) sum += b;
  const mean = sum / bias.length;
  for (let i = 0; i < bias.length; i++) bias[i] -= mean;
}

/** Copies `next` into `bias` and returns the largest change of an entry. */
export function moveBias(bias: Float32Array, next: Float64Array): number {
  let drift = 0;
  for (let i = 0; i < bias.length; i++) {
    const before = bias[i];
    bias[i] = next[i];
    drift = Math.max(drift, Math.abs(bias[i] - before));
  }
  return drift;
}
