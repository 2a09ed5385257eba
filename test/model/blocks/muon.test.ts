import {
  adamState,
  adamStep,
  blockOrthogonality,
  muonStep,
  newtonSchulz,
  orthogonalityError,
  orthogonalizeBlocks,
  orthogonalizeFlops,
} from '@epsim/model';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anySeed, normals, relError } from './support.js';

const matrixOf = (rows: number, columns: number, seed: number) =>
  Float64Array.from(normals(rows * columns, seed));

test('singular values end between 0.6 and 1.3, whichever side is longer', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 8, max: 16 }),
      fc.boolean(),
      anySeed(),
      (n, m, tall, seed) => {
        const [rows, columns] = tall ? [m, n] : [n, m];
        const x = newtonSchulz(matrixOf(rows, columns, seed), rows, columns);
        // Each singular value s adds (s^2 - 1)^2 to the squared error.
        expect(orthogonalityError(x, rows, columns)).toBeLessThan(Math.sqrt(n) * 0.69);
      },
    ),
    { numRuns: 60 },
  );
});

test('five steps are five times the polynomial 3.4445 s - 4.775 s^3 + 2.0315 s^5 on each singular value', () => {
  const sizes = [5, 2, 1, 0.3];
  for (const [rows, columns] of [
    [4, 6],
    [6, 4],
  ]) {
    const matrix = new Float64Array(24);
    sizes.forEach((size, i) => {
      matrix[i * columns + i] = size;
    });
    const x = newtonSchulz(matrix, rows, columns);
    sizes.forEach((size, i) => {
      let s = size / Math.hypot(...sizes);
      for (let step = 0; step < 5; step++) s = 3.4445 * s - 4.775 * s ** 3 + 2.0315 * s ** 5;
      expect(x[i * columns + i]).toBeCloseTo(s, 6);
    });
    expect(x.filter((value) => Math.abs(value) > 1e-12)).toHaveLength(4);
  }
});

test('an orthogonal matrix keeps its directions, and the size of the input does not matter', () => {
  const identity = Float64Array.from({ length: 16 }, (_, i) => (i % 5 === 0 ? 1 : 0));
  const x = newtonSchulz(identity, 4, 4);
  for (let i = 0; i < 16; i++) {
    if (i % 5 === 0) expect(Math.abs(x[i] - 1)).toBeLessThan(0.35);
    else expect(Math.abs(x[i])).toBeLessThan(1e-12);
  }
  const matrix = matrixOf(3, 7, 1);
  const scaled = matrix.map((value) => 1000 * value);
  expect(relError(newtonSchulz(scaled, 3, 7), newtonSchulz(matrix, 3, 7))).toBeLessThan(1e-6);
});

test('steps keep the singular vectors: the result of a rank-one matrix is rank one in the same directions', () => {
  const [u, v] = [normals(4, 1), normals(6, 2)];
  const x = newtonSchulz(
    Float64Array.from({ length: 24 }, (_, i) => u[Math.floor(i / 6)] * v[i % 6]),
    4,
    6,
  );
  const ratio = x[0] / (u[0] * v[0]);
  x.forEach((value, i) => {
    expect(value).toBeCloseTo(ratio * u[Math.floor(i / 6)] * v[i % 6], 9);
  });
});

test('a packed gradient [3 kinds x 2 heads x 4] x 8 comes out nearer to orthogonal per head than as one slice', () => {
  let perHead = 0;
  let whole = 0;
  for (let seed = 100; seed < 120; seed++) {
    const error = blockOrthogonality(matrixOf(24, 8, seed), 24, 8, 4);
    perHead += error.perBlock / 20;
    whole += error.whole / 20;
  }
  expect(perHead).toBeLessThan(0.75);
  expect(whole).toBeGreaterThan(1.1);
});

test('a head is orthogonalised without regard to its neighbours', () => {
  const packed = matrixOf(24, 8, 5);
  const changed = packed.slice();
  for (let i = 0; i < 32; i++) changed[i] *= -3;
  const [a, b] = [orthogonalizeBlocks(packed, 24, 8, 4), orthogonalizeBlocks(changed, 24, 8, 4)];
  expect(b.subarray(32)).toEqual(a.subarray(32));
  expect(orthogonalizeBlocks(changed, 24, 8, 24).subarray(32)).not.toEqual(
    orthogonalizeBlocks(packed, 24, 8, 24).subarray(32),
  );
  expect(() => orthogonalizeBlocks(packed, 24, 8, 5)).toThrow(RangeError);
});

test("one of K3's 12288 x 7168 projections costs 72 times less per head", () => {
  const whole = orthogonalizeFlops(12288, 7168, 12288);
  const perHead = orthogonalizeFlops(12288, 7168, 128);
  expect(whole / 5 / 1e12).toBeCloseTo(3.26, 2);
  expect(perHead / 5 / 1e9).toBeCloseTo(45.5, 1);
  expect(Math.round(whole / perHead)).toBe(72);
});

test('Muon and AdamW both find the bottom of a bowl', () => {
  const target = matrixOf(6, 4, 9);
  const gradient = (weights: Float64Array) => weights.map((x, i) => x - target[i]);
  const distance = (weights: Float64Array) => Math.sqrt(gradient(weights).reduce((sum, x) => sum + x * x, 0));
  const byMuon = new Float64Array(24);
  const velocity = new Float64Array(24);
  const byAdam = new Float64Array(24);
  const state = adamState(24);
  const start = distance(byMuon);
  for (let step = 0; step < 150; step++) {
    const learningRate = 0.2 * (1 - step / 150);
    const options = { learningRate, momentum: 0.95, weightDecay: 0 };
    muonStep(byMuon, gradient(byMuon), velocity, { rows: 6, columns: 4, blockRows: 3 }, options);
    adamStep(byAdam, gradient(byAdam), state, { learningRate, weightDecay: 0 });
  }
  expect(distance(byMuon)).toBeLessThan(0.15 * start);
  expect(distance(byAdam)).toBeLessThan(0.05 * start);
});

test('a step of Muon is 0.2 sqrt(longer side of a block) along the orthogonalised momentum, looked ahead once, after decay', () => {
  const [first, second] = [matrixOf(6, 4, 11), matrixOf(6, 4, 12)];
  const weights = matrixOf(6, 4, 13);
  const velocity = new Float64Array(24);
  const sizes = { rows: 6, columns: 4, blockRows: 2 };
  const options = { learningRate: 0.1, momentum: 0.95, weightDecay: 0.5 };
  const expected = weights.slice();
  for (const [gradient, ahead] of [
    [first, first.map((g) => 1.95 * g)],
    [second, second.map((g, i) => 1.95 * g + 0.95 ** 2 * first[i])],
  ]) {
    const direction = orthogonalizeBlocks(ahead, 6, 4, 2);
    expected.forEach((x, i) => {
      expected[i] = 0.95 * x - 0.1 * 0.2 * 2 * direction[i];
    });
    muonStep(weights, gradient, velocity, sizes, options);
    expect(relError(weights, expected)).toBeLessThan(1e-12);
  }
});

test('a step of AdamW is the mean over the root of the mean square, both freed of their start at zero', () => {
  const weights = Float64Array.of(1);
  const state = adamState(1);
  const options = { learningRate: 0.1, weightDecay: 0 };
  adamStep(weights, Float64Array.of(3), state, options);
  expect(weights[0]).toBeCloseTo(0.9, 8);
  adamStep(weights, Float64Array.of(-1), state, options);
  const mean = (0.9 * 0.1 * 3 - 0.1) / (1 - 0.9 ** 2);
  const square = (0.95 * 0.05 * 9 + 0.05) / (1 - 0.95 ** 2);
  expect(weights[0]).toBeCloseTo(0.9 - (0.1 * mean) / Math.sqrt(square), 8);
});

test('weight decay alone shrinks weights by learning rate times decay', () => {
  const weights = Float64Array.of(1, -2);
  adamStep(weights, new Float64Array(2), adamState(2), { learningRate: 0.1, weightDecay: 0.5 });
  expect(Array.from(weights)).toEqual([0.95, -1.9]);
});
