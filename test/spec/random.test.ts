import { randomSource, seedFor } from '@epsim/spec';
import fc from 'fast-check';
import { expect, test } from 'vitest';

const label = fc.oneof(fc.maxSafeInteger(), fc.string({ maxLength: 8 }));
const labels = fc.array(label, { maxLength: 5 });

test('a stream depends on its seed and labels only', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), labels, (seed, names) => {
      const first = randomSource(seed, ...names);
      const other = randomSource(seed, 'other');
      const second = randomSource(seed, ...names);
      for (let i = 0; i < 20; i++) {
        other.normal();
        expect(second.uint32()).toBe(first.uint32());
      }
    }),
  );
});

test('a seed is a whole number below 2^53 and may be used as a seed again', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), labels, (seed, names) => {
      const derived = seedFor(seed, ...names);
      expect(Number.isSafeInteger(derived) && derived >= 0).toBe(true);
      expect(seedFor(derived, 'again')).not.toBe(derived);
    }),
  );
});

test('two hundred thousand named purposes have two hundred thousand seeds', () => {
  const seen = new Set<number>();
  for (let step = 0; step < 50; step++) {
    for (let layer = 0; layer < 80; layer++) {
      for (let rank = 0; rank < 50; rank++) seen.add(seedFor(7, 'router', step, layer, rank));
    }
  }
  expect(seen.size).toBe(200_000);
});

test('labels keep their borders and their types', () => {
  expect(seedFor(1, 'ab', 'c')).not.toBe(seedFor(1, 'a', 'bc'));
  expect(seedFor(1, 1)).not.toBe(seedFor(1, '1'));
  expect(seedFor(1, 2, 3)).not.toBe(seedFor(1, 3, 2));
  expect(seedFor(1)).not.toBe(seedFor(1, 0));
  expect(seedFor(-1)).not.toBe(seedFor(2 ** 32 - 1));
});

test('one flipped bit of the seed moves about half of the bits of the first draw', () => {
  let flipped = 0;
  let pairs = 0;
  for (let seed = 0; seed < 300; seed++) {
    const before = randomSource(seed, 'x').uint32();
    for (let bit = 0; bit < 20; bit++, pairs++) {
      let changed = before ^ randomSource(seed ^ (1 << bit), 'x').uint32();
      for (; changed !== 0; changed &= changed - 1) flipped++;
    }
  }
  // 6000 pairs x 32 bits: one standard deviation is 0.0011.
  expect(Math.abs(flipped / (pairs * 32) - 0.5)).toBeLessThan(0.006);
});

test('a seed or label that is not a safe integer is refused', () => {
  expect(() => seedFor(0.5)).toThrow(RangeError);
  expect(() => seedFor(1, Number.NaN)).toThrow('not NaN');
  expect(() => randomSource(2 ** 53)).toThrow(RangeError);
});

test('uniform deviates lie in [0, 1) and fill twenty bins evenly', () => {
  const source = randomSource(3, 'uniform');
  const bins = new Float64Array(20);
  const count = 200_000;
  let outside = 0;
  for (let i = 0; i < count; i++) {
    const u = source.uniform();
    if (u < 0 || u >= 1) outside++;
    bins[Math.floor(u * 20)]++;
  }
  expect(outside).toBe(0);
  const expected = count / 20;
  const chiSquare = bins.reduce((sum, n) => sum + (n - expected) ** 2 / expected, 0);
  // 19 degrees of freedom: 43.8 is exceeded once in a thousand seeds, and this seed is fixed.
  expect(chiSquare).toBeLessThan(43.8);
});

test('normal deviates have the moments and the tails of the normal law', () => {
  const source = randomSource(5, 'normal');
  const count = 1_000_000;
  let sum = 0;
  let squares = 0;
  let fourths = 0;
  let beyondTwo = 0;
  let beyondFour = 0;
  for (let i = 0; i < count; i++) {
    const x = source.normal();
    sum += x;
    squares += x * x;
    fourths += x ** 4;
    if (Math.abs(x) > 2) beyondTwo++;
    if (Math.abs(x) > 4) beyondFour++;
  }
  // Bounds are about four standard errors.
  expect(Math.abs(sum / count)).toBeLessThan(0.004);
  expect(Math.abs(squares / count - 1)).toBeLessThan(0.006);
  expect(Math.abs(fourths / count - 3)).toBeLessThan(0.04);
  expect(Math.abs(beyondTwo / count - 0.045500264)).toBeLessThan(0.0009);
  expect(Math.abs(beyondFour / count - 6.334e-5)).toBeLessThan(3.2e-5);
});

test('the first draws of a known stream never change', () => {
  expect(seedFor(7, 'router', 3)).toBe(GOLDEN.seed);
  const source = randomSource(7, 'router', 3);
  expect([source.uint32(), source.uint32(), source.uint32()]).toEqual(GOLDEN.words);
  expect([source.uniform(), source.normal(), source.normal()]).toEqual(GOLDEN.reals);
  let checksum = 0;
  for (let i = 0; i < 100_000; i++) checksum += source.normal();
  expect(checksum).toBe(GOLDEN.checksum);
});

// Recorded once; a change here changes every result of every scenario.
const GOLDEN = {
  seed: 5647741039548151,
  words: [2282697541, 406116430, 3248024080],
  reals: [0.8240297811571509, -0.04425355233979848, -0.3499357491289501],
  checksum: -163.9334933410381,
};
