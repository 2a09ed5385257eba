import { gemmNaive, packBf16, packedBytes, packF32, roundUp, unpackBf16 } from '@epsim/tensor';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anySeed, bench, someFloats } from './support.js';

const anyShape = () =>
  fc.record({
    m: fc.integer({ min: 1, max: 13 }),
    k: fc.integer({ min: 1, max: 1300 }),
    n: fc.integer({ min: 1, max: 70 }),
    seed: anySeed(),
  });

/** A [m x k] with its rows padded by zeros to a multiple of 4. */
function paddedRows(a: Float32Array, m: number, k: number): Float32Array {
  const wide = roundUp(k, 4);
  const out = new Float32Array(m * wide);
  for (let row = 0; row < m; row++) out.set(a.subarray(row * k, (row + 1) * k), row * wide);
  return out;
}

interface Product {
  /** What the kernel gave, [m x n] without padding. */
  readonly fast: Float32Array;
  readonly naive: Float32Array;
  /** Sum over k of |a b|, the scale of rounding errors, [m x n]. */
  readonly size: Float32Array;
}

function product(format: 'f32' | 'bf16', m: number, k: number, n: number, seed: number, before = 0): Product {
  const { kernel, arena, put, floats } = bench();
  const a = someFloats(m * k, seed);
  const b = someFloats(k * n, seed + 1);
  const packed = arena.alloc(packedBytes(format, k, n));
  const words = packedBytes(format, k, n) / (format === 'f32' ? 4 : 2);
  if (format === 'f32') packF32(b, k, n, floats(packed, words));
  else {
    const view = new Uint16Array(kernel.memory.buffer, packed, words);
    packBf16(b, k, n, view);
    unpackBf16(view, k, n, b);
  }
  const wide = roundUp(n, 8);
  const c = put(new Float32Array(m * wide).fill(before));
  const call = { a: put(paddedRows(a, m, k)), b: packed, c, m, k, n, accumulate: before !== 0 };
  if (format === 'f32') kernel.gemmF32(call);
  else kernel.gemmBf16(call);
  const naive = new Float32Array(m * n).fill(before);
  gemmNaive(a, b, naive, { m, k, n, accumulate: before !== 0 });
  const size = new Float32Array(m * n);
  gemmNaive(a.map(Math.abs), b.map(Math.abs), size, { m, k, n });
  const result = floats(c, m * wide);
  const fast = Float32Array.from({ length: m * n }, (_, i) => result[Math.floor(i / n) * wide + (i % n)]);
  return { fast, naive, size };
}

for (const format of ['f32', 'bf16'] as const) {
  test(`the ${format} product equals the plain loops within 2e-6 of the terms' size, whatever the shape`, () => {
    fc.assert(
      fc.property(anyShape(), fc.constantFrom(0, 2.5), ({ m, k, n, seed }, before) => {
        const { fast, naive, size } = product(format, m, k, n, seed, before);
        fast.forEach((value, i) => {
          expect(Math.abs(value - naive[i])).toBeLessThanOrEqual(2e-6 * (size[i] + before) + 1e-9);
        });
      }),
      { numRuns: 60 },
    );
  });

  test(`a row of the ${format} product has the same bits alone and in any batch`, () => {
    fc.assert(
      fc.property(anyShape(), ({ m, k, n, seed }) => {
        const { kernel, arena, put, floats } = bench();
        const wideK = roundUp(k, 4);
        const wideN = roundUp(n, 8);
        const b = arena.alloc(packedBytes(format, k, n));
        if (format === 'bf16') kernel.fillWeightsBf16(b, k, n, seed, 1);
        else packF32(someFloats(k * n, seed), k, n, floats(b, wideK * wideN));
        const a = put(paddedRows(someFloats(m * k, seed + 1), m, k));
        const together = put(new Float32Array(m * wideN));
        const alone = put(new Float32Array(m * wideN));
        const run = format === 'bf16' ? kernel.gemmBf16 : kernel.gemmF32;
        run({ a, b, c: together, m, k, n });
        for (let row = 0; row < m; row++) {
          run({ a: a + row * wideK * 4, b, c: alone + row * wideN * 4, m: 1, k, n });
        }
        expect(floats(alone, m * wideN)).toEqual(floats(together, m * wideN));
      }),
      { numRuns: 60 },
    );
  });
}

test('sums are formed in blocks of 512 terms in order, each step rounded to f32', () => {
  const [m, k, n] = [3, 1200, 8];
  const { kernel, arena, put, floats } = bench();
  const [a, b] = [someFloats(m * k, 5), someFloats(k * n, 6)];
  const packed = arena.alloc(packedBytes('f32', k, n));
  packF32(b, k, n, floats(packed, k * n));
  const c = put(new Float32Array(m * n));
  kernel.gemmF32({ a: put(a), b: packed, c, m, k, n });
  const expected = Float32Array.from({ length: m * n }, (_, at) => {
    let total = 0;
    for (let block = 0; block < k; block += 512) {
      let sum = 0;
      for (let i = block; i < Math.min(k, block + 512); i++) {
        const term = Math.fround(a[Math.floor(at / n) * k + i] * b[i * n + (at % n)]);
        sum = Math.fround(sum + term);
      }
      total = block === 0 ? sum : Math.fround(total + sum);
    }
    return total;
  });
  expect(floats(c, m * n)).toEqual(expected);
});

test('strides place rows inside wider rows and leave the rest alone', () => {
  const { kernel, arena, put, floats } = bench();
  const [m, k, n] = [5, 8, 8];
  const wide = someFloats(m * 20, 1);
  const b = arena.alloc(packedBytes('bf16', k, n));
  kernel.fillWeightsBf16(b, k, n, 3, 1);
  const c = put(new Float32Array(m * 24).fill(7));
  const tight = put(new Float32Array(m * n));
  const rows = Float32Array.from({ length: m * k }, (_, i) => wide[Math.floor(i / k) * 20 + (i % k)]);
  kernel.gemmBf16({ a: put(wide), b, c, m, k, n, aStride: 20, cStride: 24 });
  kernel.gemmBf16({ a: put(rows), b, c: tight, m, k, n });
  const result = floats(c, m * 24);
  for (let row = 0; row < m; row++) {
    expect(result.subarray(row * 24, row * 24 + n)).toEqual(floats(tight + row * n * 4, n));
    expect(result.subarray(row * 24 + n, row * 24 + 24)).toEqual(new Float32Array(24 - n).fill(7));
  }
});

test('a memory shared between threads gives the same bits as one that is not', () => {
  const results = [true, false].map((shared) => {
    const { kernel, arena, put, floats } = bench(1 << 20, shared);
    const b = arena.alloc(packedBytes('bf16', 64, 24));
    kernel.fillWeightsBf16(b, 64, 24, 9, 0.5);
    const c = arena.alloc(6 * 24 * 4);
    kernel.gemmBf16({ a: put(someFloats(6 * 64, 2)), b, c, m: 6, k: 64, n: 24 });
    return Array.from(floats(c, 6 * 24));
  });
  expect(results[0]).toEqual(results[1]);
});

test('no rows are no work, and strides shorter than a row are refused', () => {
  const { kernel, floats, put } = bench();
  const c = put(new Float32Array(8).fill(3));
  kernel.gemmF32({ a: 0, b: 0, c, m: 0, k: 8, n: 8 });
  expect(floats(c, 8)).toEqual(new Float32Array(8).fill(3));
  expect(() => kernel.gemmF32({ a: 0, b: 0, c, m: 1, k: 8, n: 8, aStride: 4 })).toThrow(RangeError);
});
