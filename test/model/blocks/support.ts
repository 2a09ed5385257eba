/** Reproducible arrays for the blocks' tests. */
import { randomSource } from '@epsim/spec';
import fc from 'fast-check';

/** Normal deviates of standard deviation `size`, rounded to f32. */
export function normals(length: number, seed: number, size = 1): Float32Array {
  const random = randomSource(seed, 'test');
  return Float32Array.from({ length }, () => random.normal() * size);
}

export const anySeed = () => fc.integer({ min: 0, max: 2 ** 31 });

/** Largest |a - b| over the largest |b|; NaN when anything is not finite. */
export function relError(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) return Number.NaN;
  let worst = 0;
  let top = 1e-30;
  for (let i = 0; i < b.length; i++) {
    if (!Number.isFinite(a[i]) || !Number.isFinite(b[i])) return Number.NaN;
    worst = Math.max(worst, Math.abs(a[i] - b[i]));
    top = Math.max(top, Math.abs(b[i]));
  }
  return worst / top;
}
