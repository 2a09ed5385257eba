import { topK, topKNaive } from '@epsim/tensor';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bench } from './support.js';

/** Few distinct values, so that ties are common; minus infinity and NaN among them. */
const anyScore = () =>
  fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: -6, max: 6 }).map((x) => x / 4) },
    { weight: 8, arbitrary: fc.float({ noNaN: true, noDefaultInfinity: true, min: -4, max: 4 }) },
    { weight: 1, arbitrary: fc.constantFrom(Number.NEGATIVE_INFINITY, Number.NaN) },
  );

const anyRow = () =>
  fc
    .array(anyScore(), { minLength: 1, maxLength: 120 })
    .chain((row) => fc.tuple(fc.constant(Float32Array.from(row)), fc.integer({ min: 1, max: row.length })));

test('the insertion list finds what sorting finds, ties to the lower index', () => {
  fc.assert(
    fc.property(anyRow(), ([row, k]) => {
      const ids = new Int32Array(k);
      const values = new Float32Array(k);
      topK(row, row.length, k, ids, values);
      const expected = topKNaive(row, k);
      expect(Array.from(ids)).toEqual(expected);
      expect(Array.from(values)).toEqual(expected.map((i) => (Number.isNaN(row[i]) ? -Infinity : row[i])));
    }),
    { numRuns: 300 },
  );
});

test('the vector form gives the same ids and values, row by row', () => {
  fc.assert(
    fc.property(anyRow(), fc.integer({ min: 1, max: 3 }), ([row, k], rows) => {
      const { kernel, arena, put, floats } = bench(1 << 16);
      const all = new Float32Array(rows * row.length);
      for (let i = 0; i < all.length; i++) all[i] = row[(i + Math.floor(i / row.length)) % row.length];
      const [ids, values] = [arena.alloc(rows * k * 4), arena.alloc(rows * k * 4)];
      kernel.topK(put(all), rows, row.length, k, ids, values);
      for (let r = 0; r < rows; r++) {
        const [oneIds, oneValues] = [new Int32Array(k), new Float32Array(k)];
        topK(all.subarray(r * row.length), row.length, k, oneIds, oneValues);
        expect(new Int32Array(kernel.memory.buffer, ids + r * k * 4, k)).toEqual(oneIds);
        expect(floats(values + r * k * 4, k)).toEqual(oneValues);
      }
    }),
    { numRuns: 200 },
  );
});

test('sixteen of 896 equal scores are the first sixteen', () => {
  const ids = new Int32Array(16);
  topK(new Float32Array(896).fill(0.5), 896, 16, ids, new Float32Array(16));
  expect(Array.from(ids)).toEqual(Array.from({ length: 16 }, (_, i) => i));
});

test('more results than scores, or than room, are refused', () => {
  const row = new Float32Array(4);
  expect(() => topK(row, 4, 5, new Int32Array(5), new Float32Array(5))).toThrow(RangeError);
  expect(() => topK(row, 4, 2, new Int32Array(1), new Float32Array(2))).toThrow(RangeError);
  expect(() => bench(1 << 16).kernel.topK(0, 1, 4, 0, 64, 128)).toThrow(RangeError);
});
