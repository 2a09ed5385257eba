import {
  fromBf16,
  mixSeed,
  packedBytes,
  packedIndex,
  roundUp,
  toBf16,
  weightAt,
  weightsInto,
} from '@epsim/tensor';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anySeed, bench } from './support.js';

test('the vector fill writes the weights of the plain hash, and zeros where the matrix is padded', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 40 }),
      anySeed(),
      fc.constantFrom(1, 0.03125, 0.0173),
      (k, n, seed, scale) => {
        const { kernel, arena } = bench(1 << 16);
        const words = packedBytes('bf16', k, n) / 2;
        const packed = new Uint16Array(kernel.memory.buffer, arena.alloc(words * 2), words).fill(0xffff);
        kernel.fillWeightsBf16(packed.byteOffset, k, n, seed, scale);
        for (let row = 0; row < roundUp(k, 4); row++) {
          for (let column = 0; column < roundUp(n, 8); column++) {
            const inside = row < k && column < n;
            const expected = inside ? weightAt(seed, row * roundUp(n, 8) + column, scale) : 0;
            expect(fromBf16(packed[packedIndex('bf16', row, column, k)])).toBe(expected);
          }
        }
      },
    ),
    { numRuns: 60 },
  );
});

test('weights are BF16 numbers, spread evenly over [-scale, scale]', () => {
  const count = 40_000;
  const bins = new Int32Array(10);
  let sum = 0;
  let neighbours = 0;
  let last = 0;
  let outside = 0;
  for (let i = 0; i < count; i++) {
    const weight = weightAt(11, i, 0.5);
    if (fromBf16(toBf16(weight)) !== weight || Math.abs(weight) > 0.5) outside++;
    bins[Math.min(9, Math.floor((weight + 0.5) * 10))]++;
    sum += weight;
    neighbours += weight * last;
    last = weight;
  }
  expect(outside).toBe(0);
  expect(Math.abs(sum / count)).toBeLessThan(0.006);
  expect(Math.abs(neighbours / count)).toBeLessThan(0.002);
  for (const bin of bins) expect(Math.abs(bin / count - 0.1)).toBeLessThan(0.008);
});

test('another seed gives unrelated weights, also a shifted copy of none', () => {
  fc.assert(
    fc.property(
      anySeed(),
      fc.integer({ min: 0, max: 16 }),
      fc.integer({ min: 0, max: 16 }),
      (seed, from, to) => {
        const a = Array.from({ length: 64 }, (_, i) => weightAt(mixSeed(seed, 1), from + i));
        const b = Array.from({ length: 64 }, (_, i) => weightAt(mixSeed(seed, 2), to + i));
        expect(a.filter((value, i) => value === b[i]).length).toBeLessThan(8);
      },
    ),
    { numRuns: 50 },
  );
});

test('seeds of different keys differ', () => {
  const seeds = new Set<number>();
  for (let layer = 0; layer < 92; layer++) {
    for (let expert = 0; expert < 100; expert++) seeds.add(mixSeed(7, layer, expert));
  }
  expect(seeds.size).toBe(9200);
  expect(mixSeed(7, 1, 2)).not.toBe(mixSeed(7, 2, 1));
});

test('the first weights stay what they were', () => {
  expect(Array.from({ length: 6 }, (_, i) => weightAt(7, i))).toMatchInlineSnapshot(`
    [
      -0.248046875,
      -0.8671875,
      -0.490234375,
      -0.435546875,
      -0.7421875,
      -0.034423828125,
    ]
  `);
});

test('a whole row of weights is its weights one by one', () => {
  const row = new Float32Array(37);
  weightsInto(row, 5, 1001, 0.25);
  expect(Array.from(row)).toEqual(Array.from(row, (_, i) => weightAt(5, 1001 + i, 0.25)));
});
