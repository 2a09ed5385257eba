/**
 * Weights that nobody has to store or send: each is a hash of a seed and its index, rounded to BF16.
 * Its one idea: the weight depends on nothing but (seed, index, scale), so any worker can write any
 * part of any matrix and all agree. One 32-bit hash gives two weights.
 * Knows nothing about which matrix is which; callers derive a seed for each with `mixSeed`.
 */
import { fromBf16, toBf16 } from './numbers.js';

/** A 32-bit mixing function with two odd multipliers (the "lowbias32" constants), keyed in two places. */
function mix(counter: number, key0: number, key1: number): number {
  let h = counter ^ key0;
  h ^= h >>> 16;
  h = Math.imul(h, 0x7feb352d);
  h = (h + key1) | 0;
  h ^= h >>> 15;
  h = Math.imul(h, 0x846ca68b);
  h ^= h >>> 16;
  return h;
}

/** The two keys of a seed. */
export function weightKeys(seed: number): readonly [number, number] {
  return [mix(seed, 0x2545f491, 0x1b873593), mix(seed, 0x6a09e667, 0x3c6ef372)];
}

/** A 32-bit seed out of a seed and any number of keys (layer, expert, part): distinct keys, unrelated seeds. */
export function mixSeed(seed: number, ...keys: readonly number[]): number {
  return (
    keys.reduce(
      (mixed, key) => mix(mix(mixed, 0x9e3779b9, 0x85ebca6b) + key, 0xc2b2ae35, 0x27d4eb2f),
      seed,
    ) >>> 0
  );
}

/**
 * Weight number `index` of the matrix with this seed: one of 65536 equal steps of [-scale, scale), then BF16
 * (which may round up to `scale` itself). Element (row, column) of a matrix has the index
 * row * roundUp(columns, 8) + column.
 */
export function weightAt(seed: number, index: number, scale = 1): number {
  const [key0, key1] = weightKeys(seed);
  return keyedWeight(key0, key1, index, Math.fround(Math.fround(scale) / 2147483648));
}

/** Weights `first`, `first` + 1, ... of the matrix with this seed into `out`: `weightAt` for a whole row. */
export function weightsInto(out: Float32Array, seed: number, first: number, scale = 1): void {
  const [key0, key1] = weightKeys(seed);
  const step = Math.fround(Math.fround(scale) / 2147483648);
  for (let i = 0; i < out.length; i++) out[i] = keyedWeight(key0, key1, first + i, step);
}

/** `step` is scale / 2^31: a half of the hash, moved to the upper 16 bits, times it is the weight. */
function keyedWeight(key0: number, key1: number, index: number, step: number): number {
  const h = mix(Math.floor(index / 2) | 0, key0, key1);
  const half = index % 2 === 0 ? (h << 16) >> 16 : h >> 16;
  return fromBf16(toBf16(half * 65536 * step));
}
