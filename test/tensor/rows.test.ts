import { axpyNaive, rmsNormNaive, weightedSumNaive } from '@epsim/tensor';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anySeed, bench, relError, someFloats } from './support.js';

const anyWidth = () => fc.integer({ min: 1, max: 300 });

test('normalised rows have the root mean square of their gain, as the plain form computes them', () => {
  fc.assert(
    fc.property(anyWidth(), fc.integer({ min: 1, max: 5 }), anySeed(), (width, rows, seed) => {
      const { kernel, put, floats, arena } = bench(1 << 17);
      const x = someFloats(rows * width, seed, 3);
      const gain = someFloats(width, seed + 1);
      const out = arena.alloc(x.byteLength);
      kernel.rmsNorm(put(x), put(gain), out, rows, width, 1e-5);
      const expected = new Float32Array(x.length);
      rmsNormNaive(x, gain, expected, width, 1e-5);
      expect(relError(floats(out, x.length), expected)).toBeLessThan(2e-6);
    }),
    { numRuns: 60 },
  );
});

test('adding a weighted row is the plain loop', () => {
  fc.assert(
    fc.property(anyWidth(), anySeed(), (width, seed) => {
      const { kernel, put, floats } = bench(1 << 17);
      const out = someFloats(width, seed);
      const x = someFloats(width, seed + 1);
      const at = put(out);
      kernel.axpy(at, put(x), width, 0.375);
      axpyNaive(out, x, 0.375);
      expect(relError(floats(at, width), out)).toBeLessThan(3e-7);
    }),
    { numRuns: 40 },
  );
});

test('a weighted sum takes its rows in the order of the index and leaves out negative ones', () => {
  fc.assert(
    fc.property(
      anyWidth(),
      fc.array(fc.integer({ min: -1, max: 6 }), { minLength: 0, maxLength: 20 }),
      anySeed(),
      (width, list, seed) => {
        const { kernel, put, floats, arena } = bench(1 << 17);
        const rows = someFloats(7 * width, seed);
        const weights = someFloats(list.length, seed + 1);
        const index = Int32Array.from(list);
        const indexAt = arena.alloc(index.byteLength);
        new Int32Array(kernel.memory.buffer, indexAt, index.length).set(index);
        const out = arena.alloc(width * 4);
        const weightsAt = put(weights);
        kernel.weightedSum({
          out,
          rows: put(rows),
          width,
          index: indexAt,
          weights: weightsAt,
          terms: list.length,
        });
        const inOrder = new Float32Array(width);
        index.forEach((row, term) => {
          for (let i = 0; row >= 0 && i < width; i++) {
            inOrder[i] += Math.fround(weights[term] * rows[row * width + i]);
          }
        });
        expect(floats(out, width)).toEqual(inOrder);
        const expected = new Float32Array(width);
        weightedSumNaive(rows, index, weights, expected);
        floats(out, width).forEach((value, i) => {
          expect(Math.abs(value - expected[i])).toBeLessThan(1e-5);
        });
      },
    ),
    { numRuns: 60 },
  );
});
