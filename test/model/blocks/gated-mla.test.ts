import { gatedMla, type MlaShape, type MlaWeights, mlaCache, mlaExpanded } from '@epsim/model';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anySeed, normals, relError } from './support.js';

const HIDDEN = 64;

function shapeOf(rope: number, qLoraRank: number | null, outputGate: boolean): MlaShape {
  return {
    kind: 'mla',
    headCount: 4,
    qLoraRank,
    kvLoraRank: 16,
    nopeHeadDim: 12,
    ropeHeadDim: rope,
    valueHeadDim: 10,
    outputGate,
    indexer: null,
  };
}

function weightsOf(shape: MlaShape, seed: number): MlaWeights {
  const {
    headCount,
    qLoraRank: qRank,
    kvLoraRank: rank,
    nopeHeadDim: nope,
    ropeHeadDim: rope,
    valueHeadDim,
  } = shape;
  const matrix = (rows: number, columns: number, n: number) =>
    normals(rows * columns, seed + n, rows ** -0.5);
  return {
    queryDown: qRank === null ? null : matrix(HIDDEN, qRank, 1),
    queryNorm: qRank === null ? null : normals(qRank, seed + 2).map((x) => 1 + 0.1 * x),
    queryUp: matrix(qRank ?? HIDDEN, headCount * (nope + rope), 3).map((x) => 3 * x),
    latentDown: matrix(HIDDEN, rank + rope, 4),
    latentNorm: normals(rank, seed + 5).map((x) => 1 + 0.1 * x),
    keyUp: matrix(rank, headCount * nope, 6),
    valueUp: matrix(rank, headCount * valueHeadDim, 7),
    gate: shape.outputGate ? matrix(HIDDEN, headCount * valueHeadDim, 8) : null,
    out: matrix(headCount * valueHeadDim, HIDDEN, 9),
  };
}

const anyShape = () =>
  fc.tuple(fc.constantFrom(0, 4), fc.constantFrom(null, 8), fc.boolean()).map((parts) => shapeOf(...parts));

test('reading the latents is reading the keys and values that they stand for', () => {
  fc.assert(
    fc.property(anyShape(), fc.integer({ min: 1, max: 20 }), anySeed(), (shape, tokens, seed) => {
      const w = weightsOf(shape, seed);
      const x = normals(tokens * HIDDEN, seed + 20);
      const out = gatedMla(x, HIDDEN, shape, w, mlaCache(shape));
      expect(relError(out, mlaExpanded(x, HIDDEN, shape, w))).toBeLessThan(1e-5);
    }),
    { numRuns: 25 },
  );
});

test('token by token gives the bits of the whole, position by position', () => {
  fc.assert(
    fc.property(anyShape(), fc.integer({ min: 1, max: 24 }), anySeed(), (shape, tokens, seed) => {
      const w = weightsOf(shape, seed);
      const x = normals(tokens * HIDDEN, seed + 20);
      const whole = gatedMla(x, HIDDEN, shape, w, mlaCache(shape));
      const cache = mlaCache(shape);
      for (let t = 0; t < tokens; t++) {
        const one = gatedMla(x.subarray(t * HIDDEN, (t + 1) * HIDDEN), HIDDEN, shape, w, cache);
        expect(one).toEqual(whole.subarray(t * HIDDEN, (t + 1) * HIDDEN));
      }
    }),
    { numRuns: 15 },
  );
});

test('of width 64 and latent 16, two sequences of 16 tokens give [2, 16, 64] and keep 16 floats a token', () => {
  const shape = shapeOf(0, null, true);
  const w = weightsOf(shape, 1);
  for (const sequence of [0, 1]) {
    const cache = mlaCache(shape);
    expect(gatedMla(normals(16 * HIDDEN, sequence), HIDDEN, shape, w, cache).length).toBe(16 * HIDDEN);
    expect([cache.tokens, cache.width]).toEqual([16, 16]);
  }
});

test('no token sees those after it, and the order of those before it does not matter', () => {
  const shape = shapeOf(4, 8, true);
  const w = weightsOf(shape, 3);
  const x = normals(8 * HIDDEN, 4);
  const row = (a: Float32Array, t: number) => a.subarray(t * HIDDEN, (t + 1) * HIDDEN);
  const whole = gatedMla(x, HIDDEN, shape, w, mlaCache(shape));
  const later = x.slice();
  later.fill(1, 5 * HIDDEN);
  expect(row(gatedMla(later, HIDDEN, shape, w, mlaCache(shape)), 4)).toEqual(row(whole, 4));
  const swapped = x.slice();
  swapped.set(row(x, 1), 0);
  swapped.set(row(x, 0), HIDDEN);
  const other = gatedMla(swapped, HIDDEN, shape, w, mlaCache(shape));
  expect(relError(row(other, 7), row(whole, 7))).toBeLessThan(1e-6);
});
