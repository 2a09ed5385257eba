import {
  type DeltaInputs,
  deltaChunkwise,
  deltaRecurrent,
  type KdaShape,
  type KdaWeights,
  kda,
  kdaState,
  logDecay,
  logDecaySlope,
  shortConv,
  tileExponent,
  unitRows,
} from '@epsim/model';
import { sigmoid } from '@epsim/tensor';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anySeed, normals, relError } from './support.js';

const HIDDEN = 64;
const SHAPE: KdaShape = {
  kind: 'kda',
  headCount: 4,
  headDim: 16,
  convSize: 4,
  gateRank: 8,
  fullRankOutputGate: true,
  logDecayBound: -5,
};

function weightsOf(seed: number, shape = SHAPE): KdaWeights {
  const inner = shape.headCount * shape.headDim;
  const matrix = (rows: number, columns: number, n: number) =>
    normals(rows * columns, seed + n, rows ** -0.5);
  return {
    query: matrix(HIDDEN, inner, 1),
    key: matrix(HIDDEN, inner, 2),
    value: matrix(HIDDEN, inner, 3),
    queryConv: normals(inner * shape.convSize, seed + 4, 0.5),
    keyConv: normals(inner * shape.convSize, seed + 5, 0.5),
    valueConv: normals(inner * shape.convSize, seed + 6, 0.5),
    decayDown: matrix(HIDDEN, shape.gateRank, 7),
    decayUp: matrix(shape.gateRank, inner, 8),
    decayLog: normals(shape.headCount, seed + 9).map((x) => Math.log(1 + 15 * sigmoid(x))),
    decayShift: normals(inner, seed + 10, 0.5),
    beta: matrix(HIDDEN, shape.headCount, 11),
    gate: matrix(HIDDEN, inner, 12),
    norm: normals(shape.headDim, seed + 13).map((x) => 1 + 0.1 * x),
    out: matrix(inner, HIDDEN, 14),
  };
}

/** Random inputs of the delta rule with log decays in (bound, 0). */
function inputsOf(tokens: number, headCount: number, headDim: number, seed: number, bound = -5): DeltaInputs {
  const length = tokens * headCount * headDim;
  return {
    headCount,
    headDim,
    query: unitRows(normals(length, seed), headDim, headDim ** -0.5),
    key: unitRows(normals(length, seed + 1), headDim, 1),
    value: normals(length, seed + 2),
    logDecay: normals(length, seed + 3, 2).map((z) => bound * sigmoid(z)),
    beta: normals(tokens * headCount, seed + 4).map(sigmoid),
  };
}

const anyCase = () =>
  fc.record({
    tokens: fc.integer({ min: 1, max: 40 }),
    headCount: fc.integer({ min: 1, max: 3 }),
    headDim: fc.integer({ min: 1, max: 9 }),
    seed: anySeed(),
  });

describe('the delta rule', () => {
  test('in chunks of any size equals the recurrence, output and state', () => {
    fc.assert(
      fc.property(
        anyCase(),
        fc.integer({ min: 1, max: 20 }),
        ({ tokens, headCount, headDim, seed }, chunk) => {
          const inputs = inputsOf(tokens, headCount, headDim, seed);
          const before = normals(headCount * headDim ** 2, seed + 5);
          const [a, b] = [before.slice(), before.slice()];
          expect(relError(deltaChunkwise(inputs, a, chunk), deltaRecurrent(inputs, b))).toBeLessThan(1e-4);
          expect(relError(a, b)).toBeLessThan(1e-4);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('is the product form S = (I - beta k k^T) Diag(e^g) S + beta k v^T', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), anySeed(), (dim, seed) => {
        const inputs = inputsOf(1, 1, dim, seed);
        const before = normals(dim * dim, seed + 5);
        const after = before.slice();
        deltaRecurrent(inputs, after);
        const [k, v, beta] = [inputs.key, inputs.value, inputs.beta[0]];
        const decayed = before.map((x, i) => x * Math.exp(inputs.logDecay[Math.floor(i / dim)]));
        const expected = Float32Array.from({ length: dim * dim }, (_, i) => {
          const [row, column] = [Math.floor(i / dim), i % dim];
          let sum = beta * k[row] * v[column];
          for (let j = 0; j < dim; j++) {
            sum += ((row === j ? 1 : 0) - beta * k[row] * k[j]) * decayed[j * dim + column];
          }
          return sum;
        });
        expect(relError(after, expected)).toBeLessThan(1e-5);
      }),
    );
  });

  test('without decay a full-strength write is read back exactly, and replaces what that key held', () => {
    const dim = 8;
    const key = unitRows(normals(dim, 1), dim, 1);
    const twice = new Float32Array([...key, ...key]);
    const value = normals(2 * dim, 2);
    const beta = Float32Array.of(1, 1);
    const inputs = {
      headCount: 1,
      headDim: dim,
      query: twice,
      key: twice,
      value,
      beta,
      logDecay: new Float32Array(2 * dim),
    };
    expect(relError(deltaRecurrent(inputs, new Float32Array(dim * dim)), value)).toBeLessThan(1e-5);
  });

  test('arrays and states of other sizes are refused', () => {
    const inputs = inputsOf(3, 2, 4, 1);
    expect(() => deltaRecurrent(inputs, new Float32Array(31))).toThrow(RangeError);
    expect(() => deltaRecurrent({ ...inputs, key: new Float32Array(5) }, new Float32Array(32))).toThrow(
      /key has 5/,
    );
  });
});

describe('log decay', () => {
  test('stays above its bound of -5 for any input, falls with it, and is a sigmoid, not a clamp', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -50, max: 50, noNaN: true }),
        fc.double({ min: 0, max: 2.77, noNaN: true }),
        (z, a) => {
          const g = logDecay(z, a, -5);
          expect(g).toBeGreaterThanOrEqual(-5);
          expect(g).toBeLessThanOrEqual(0);
          expect(logDecay(z + 0.1, a, -5)).toBeLessThanOrEqual(g);
          expect(g).toBeCloseTo(-5 - logDecay(-z, a, -5), 9);
        },
      ),
    );
    expect(logDecay(0, 0, -5)).toBe(-2.5);
    expect(logDecay(0.01, 0, -5)).not.toBe(logDecay(0, 0, -5));
  });

  test('slopes are those of central differences, with and without the bound', () => {
    fc.assert(
      fc.property(fc.double({ min: -4, max: 4, noNaN: true }), fc.constantFrom(-5, null), (z, bound) => {
        const slope = (logDecay(z + 1e-5, 0.7, bound) - logDecay(z - 1e-5, 0.7, bound)) / 2e-5;
        expect(logDecaySlope(z, 0.7, bound)).toBeCloseTo(slope, 6);
      }),
    );
  });

  test('a tile of 16 tokens at the bound stays finite over a million tokens; without a bound it overflows', () => {
    const dim = 2;
    const tokens = 1 << 20;
    const block = 1 << 16;
    const at = (g: number): DeltaInputs => ({
      ...inputsOf(block, 1, dim, 3),
      logDecay: new Float32Array(block * dim).fill(g),
    });
    const memory = new Float32Array(dim * dim);
    const hardest = at(-5);
    for (let done = 0; done < tokens; done += block) {
      expect(deltaChunkwise(hardest, memory).every(Number.isFinite)).toBe(true);
    }
    expect(memory.every(Number.isFinite)).toBe(true);
    expect(Math.exp(tileExponent(-5, 16))).toBeLessThan(3.4e38);

    const rate = logDecay(2, Math.log(16), null);
    expect(rate).toBeLessThan(-30);
    expect(Math.exp(tileExponent(rate, 16))).toBeGreaterThan(3.4e38);
    const open: DeltaInputs = { ...inputsOf(16, 1, dim, 3), logDecay: new Float32Array(16 * dim).fill(rate) };
    expect(deltaChunkwise(open, new Float32Array(dim * dim)).some(Number.isNaN)).toBe(true);
    expect(deltaRecurrent(open, new Float32Array(dim * dim)).every(Number.isFinite)).toBe(true);
  });
});

describe('the layer', () => {
  test('of width 64 gives 16 tokens in two sequences the same output sequentially and in chunks', () => {
    const w = weightsOf(20);
    for (const sequence of [0, 1]) {
      const x = normals(16 * HIDDEN, 30 + sequence);
      const [one, other] = [kdaState(SHAPE), kdaState(SHAPE)];
      const sequential = kda(x, HIDDEN, SHAPE, w, one);
      const chunked = kda(x, HIDDEN, SHAPE, w, other, 16);
      expect(sequential.length).toBe(16 * HIDDEN);
      expect(relError(chunked, sequential)).toBeLessThan(1e-4);
      expect(relError(other.memory, one.memory)).toBeLessThan(1e-4);
    }
  });

  test('cut anywhere, a sequence gives the same bits, and the state keeps its size', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 }),
        anySeed(),
        (cuts, seed) => {
          const w = weightsOf(seed);
          const tokens = cuts.reduce((a, b) => a + b, 0);
          const x = normals(tokens * HIDDEN, seed + 50);
          const whole = kda(x, HIDDEN, SHAPE, w, kdaState(SHAPE));
          const state = kdaState(SHAPE);
          const size = JSON.stringify(Object.values(state).map((array: Float32Array) => array.length));
          const parts: number[] = [];
          let from = 0;
          for (const cut of cuts) {
            parts.push(...kda(x.subarray(from * HIDDEN, (from + cut) * HIDDEN), HIDDEN, SHAPE, w, state));
            from += cut;
          }
          expect(Float32Array.from(parts)).toEqual(whole);
          expect(JSON.stringify(Object.values(state).map((array: Float32Array) => array.length))).toBe(size);
        },
      ),
      { numRuns: 15 },
    );
  });

  test('the convolution sees three tokens back and none ahead', () => {
    const channels = 3;
    const taps = normals(channels * 4, 1);
    const x = normals(8 * channels, 2);
    const changed = x.slice();
    changed[4 * channels + 1] += 1;
    const run = (input: Float32Array) => shortConv(input, channels, taps, new Float32Array(3 * channels));
    const [a, b] = [run(x), run(changed)];
    const touched = Array.from({ length: 8 }, (_, t) => t).filter((t) =>
      [0, 1, 2].some((c) => a[t * channels + c] !== b[t * channels + c]),
    );
    expect(touched).toEqual([4, 5, 6, 7]);
  });
});
