import {
  framePositions,
  gelu,
  geluExact,
  mergePatches,
  poolFrames,
  rotate2d,
  stretchPositions,
  type VisionLayerWeights,
  type VisionWeights,
  visionTokens,
} from '@epsim/model';
import type { VisionShape } from '@epsim/spec';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anySeed, normals, relError } from './support.js';

const SHAPE: VisionShape = {
  layerCount: 2,
  hiddenSize: 12,
  innerSize: 20,
  headCount: 2,
  headDim: 8,
  patchSize: 2,
  mergeSize: 2,
  positionGrid: 4,
  projectorInnerSize: 16,
};
const MODEL_WIDTH = 10;

function layerOf(seed: number): VisionLayerWeights {
  const { hiddenSize, innerSize, headCount, headDim } = SHAPE;
  const wide = headCount * headDim;
  const matrix = (rows: number, columns: number, n: number) =>
    normals(rows * columns, seed + n, rows ** -0.5);
  return {
    attentionNorm: new Float32Array(hiddenSize).fill(1),
    query: matrix(hiddenSize, wide, 1),
    key: matrix(hiddenSize, wide, 2),
    value: matrix(hiddenSize, wide, 3),
    out: matrix(wide, hiddenSize, 4),
    mlpNorm: new Float32Array(hiddenSize).fill(1),
    up: matrix(hiddenSize, innerSize, 5),
    down: matrix(innerSize, hiddenSize, 6),
  };
}

function weightsOf(seed: number): VisionWeights {
  const { hiddenSize, positionGrid, projectorInnerSize } = SHAPE;
  return {
    patch: normals(12 * hiddenSize, seed, 12 ** -0.5),
    positions: normals(positionGrid ** 2 * hiddenSize, seed + 1, 0.1),
    layers: [layerOf(seed + 10), layerOf(seed + 20)],
    norm: new Float32Array(hiddenSize).fill(1),
    projectorIn: normals(4 * hiddenSize * projectorInnerSize, seed + 2, (4 * hiddenSize) ** -0.5),
    projectorOut: normals(projectorInnerSize * MODEL_WIDTH, seed + 3, projectorInnerSize ** -0.5),
    projectorNorm: new Float32Array(MODEL_WIDTH).fill(1),
  };
}

test('an image of 4 x 6 patches becomes 6 tokens of the model width, each of root mean square one', () => {
  const image = { frames: 1, rows: 4, columns: 6, patches: normals(24 * 12, 5) };
  const tokens = visionTokens(image, SHAPE, weightsOf(1));
  expect(tokens.length).toBe(6 * MODEL_WIDTH);
  for (let t = 0; t < 6; t++) {
    const own = tokens.subarray(t * MODEL_WIDTH, (t + 1) * MODEL_WIDTH);
    expect(Math.sqrt(own.reduce((sum, x) => sum + x * x, 0) / MODEL_WIDTH)).toBeCloseTo(1, 3);
  }
});

test('every token depends on every patch, and on where it stands', () => {
  const w = weightsOf(2);
  const image = { frames: 1, rows: 4, columns: 4, patches: normals(16 * 12, 6) };
  const tokens = visionTokens(image, SHAPE, w);
  const changed = image.patches.slice();
  changed[15 * 12] += 1;
  const other = visionTokens({ ...image, patches: changed }, SHAPE, w);
  for (let t = 0; t < 4; t++) {
    expect(other.slice(t * MODEL_WIDTH, (t + 1) * MODEL_WIDTH)).not.toEqual(
      tokens.slice(t * MODEL_WIDTH, (t + 1) * MODEL_WIDTH),
    );
  }
});

test('products of turned rows depend on the offset of their places only, and turning keeps lengths', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 3 }), anySeed(), (dx, dy, seed) => {
      const [dim, columns] = [16, 8];
      const one = normals(dim, seed);
      const two = normals(dim, seed + 1);
      const everywhere = (row: Float32Array) =>
        rotate2d(
          Float32Array.from({ length: 64 * dim }, (_, i) => row[i % dim]),
          1,
          dim,
          columns,
        );
      const [a, b] = [everywhere(one), everywhere(two)];
      const product = (row: number, column: number) => {
        const [p, q] = [row * columns + column, (row + dy) * columns + column + dx];
        let sum = 0;
        for (let d = 0; d < dim; d++) sum += a[p * dim + d] * b[q * dim + d];
        return sum;
      };
      for (const [row, column] of [
        [0, 0],
        [2, 1],
        [4, 4],
      ])
        expect(product(row, column)).toBeCloseTo(product(0, 0), 4);
      const length = (x: Float32Array) => x.reduce((sum, v) => sum + v * v, 0);
      expect(length(a.subarray(63 * dim))).toBeCloseTo(length(one), 3);
    }),
    { numRuns: 30 },
  );
});

/** Rows [n x k] times a matrix [k x n], in double precision. */
function times(x: readonly number[], matrix: ArrayLike<number>, k: number): number[] {
  const n = matrix.length / k;
  return Array.from({ length: (x.length / k) * n }, (_, at) => {
    const from = Math.floor(at / n) * k;
    let sum = 0;
    for (let i = 0; i < k; i++) sum += x[from + i] * matrix[i * n + (at % n)];
    return sum;
  });
}

/** Each row over its root mean square, times the gain. */
function normed(x: readonly number[], gain: ArrayLike<number>): number[] {
  const rms = Array.from({ length: x.length / gain.length }, (_, row) => {
    const own = x.slice(row * gain.length, (row + 1) * gain.length);
    return Math.sqrt(own.reduce((sum, v) => sum + v * v, 0) / gain.length + 1e-5);
  });
  return x.map((v, i) => (v / rms[Math.floor(i / gain.length)]) * gain[i % gain.length]);
}

/** One encoder layer, with nothing turned: a score is formed from the offset of two patches, column by column and row by row. */
function layerByOffsets(
  x: readonly number[],
  w: VisionLayerWeights,
  image: { readonly rows: number; readonly columns: number },
): number[] {
  const { hiddenSize, innerSize, headCount, headDim: dim } = SHAPE;
  const wide = headCount * dim;
  const from = normed(x, w.attentionNorm);
  const [q, k, v] = [w.query, w.key, w.value].map((matrix) => times(from, matrix, hiddenSize));
  const places = Array.from({ length: x.length / hiddenSize }, (_, p) => [
    p % image.columns,
    Math.floor(p / image.columns) % image.rows,
  ]);
  const read = new Array<number>(places.length * wide).fill(0);
  for (let p = 0; p < places.length; p++) {
    for (let head = 0; head < headCount; head++) {
      const scores = places.map((place, t) => {
        let score = 0;
        for (let pair = 0; pair < dim / 2; pair++) {
          const axis = pair % 2;
          const turn = (place[axis] - places[p][axis]) / 10_000 ** ((4 * Math.floor(pair / 2)) / dim);
          const [a, b] = [p * wide + head * dim + 2 * pair, t * wide + head * dim + 2 * pair];
          score += Math.cos(turn) * (q[a] * k[b] + q[a + 1] * k[b + 1]);
          score += Math.sin(turn) * (q[a + 1] * k[b] - q[a] * k[b + 1]);
        }
        return Math.exp(score / Math.sqrt(dim));
      });
      const total = scores.reduce((sum, score) => sum + score, 0);
      scores.forEach((score, t) => {
        for (let d = 0; d < dim; d++)
          read[p * wide + head * dim + d] += (score / total) * v[t * wide + head * dim + d];
      });
    }
  }
  const added = times(read, w.out, wide);
  const middle = x.map((value, i) => value + added[i]);
  const inner = times(normed(middle, w.mlpNorm), w.up, hiddenSize).map(gelu);
  const last = times(inner, w.down, innerSize);
  return middle.map((value, i) => value + last[i]);
}

test('the path is its formula: positions, attention by offsets, two residuals, norms, pooling, merge, projector', () => {
  const { hiddenSize, positionGrid, projectorInnerSize } = SHAPE;
  const gain = (length: number, seed: number) => normals(length, seed).map((x) => 1 + 0.3 * x);
  const plain = weightsOf(4);
  const w: VisionWeights = {
    ...plain,
    layers: plain.layers.map((layer, i) => ({
      ...layer,
      query: layer.query.map((x) => 3 * x),
      attentionNorm: gain(hiddenSize, 60 + i),
      mlpNorm: gain(hiddenSize, 70 + i),
    })),
    norm: gain(hiddenSize, 80),
    projectorNorm: gain(MODEL_WIDTH, 81),
  };
  const image = { frames: 2, rows: 2, columns: 4 };
  const patches = normals(16 * 12, 9);
  const plane = stretchPositions(w.positions, positionGrid, hiddenSize, image.rows, image.columns);
  const time = framePositions(image.frames, hiddenSize);
  let x = times([...patches], w.patch, 12).map(
    (value, i) =>
      value + plane[i % plane.length] + time[Math.floor(i / plane.length) * hiddenSize + (i % hiddenSize)],
  );
  for (const layer of w.layers) x = layerByOffsets(x, layer, image);
  const out = normed(x, w.norm);
  const pooled = Array.from({ length: out.length / 2 }, (_, i) => (out[i] + out[out.length / 2 + i]) / 2);
  const squares = [0, 1, 4, 5, 2, 3, 6, 7].flatMap((p) => pooled.slice(p * hiddenSize, (p + 1) * hiddenSize));
  const inner = times(squares, w.projectorIn, 4 * hiddenSize).map(geluExact);
  const expected = normed(times(inner, w.projectorOut, projectorInnerSize), w.projectorNorm);
  expect(relError(visionTokens({ ...image, patches }, SHAPE, w), expected)).toBeLessThan(1e-5);
});

test('positions at their own size are the table, and stretching keeps a plane a plane inside', () => {
  const table = normals(16 * 3, 1);
  expect(relError(stretchPositions(table, 4, 3, 4, 4), table)).toBeLessThan(1e-6);
  const plane = Float32Array.from({ length: 16 }, (_, i) => 2 * Math.floor(i / 4) + 3 * (i % 4));
  const wide = stretchPositions(plane, 4, 1, 8, 8);
  for (let r = 1; r < 7; r++) {
    for (let c = 1; c < 7; c++) {
      expect(wide[r * 8 + c]).toBeCloseTo(2 * ((r + 0.5) / 2 - 0.5) + 3 * ((c + 0.5) / 2 - 0.5), 5);
    }
  }
});

test('merging puts the four patches of a square side by side', () => {
  const patches = Float32Array.from({ length: 16 }, (_, i) => i);
  const squares = [0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15];
  expect(Array.from(mergePatches(patches, 1, 4, 4, 2))).toEqual(squares);
  expect(() => mergePatches(patches, 1, 2, 8, 3)).toThrow(RangeError);
});

test('gelu is x for large x, 0 for small, and within 1e-3 of x times the normal distribution between', () => {
  expect([gelu(20), gelu(-20), gelu(0)].map(Math.abs)).toEqual([20, 0, 0]);
  expect(Math.abs(gelu(1) - 0.8413447)).toBeLessThan(1e-3);
  expect(Math.abs(gelu(-0.5) + 0.1542687)).toBeLessThan(1e-3);
});

test('exact gelu is x times the normal distribution, and never 5e-4 from its tanh form', () => {
  // Values of the standard normal distribution function.
  const known = [
    [0.5, 0.6914624612740131],
    [1, 0.8413447460685429],
    [2, 0.9772498680518208],
    [3, 0.9986501019683699],
    [-1, 0.15865525393145707],
    [-3, 0.0013498980316300933],
  ];
  for (const [x, distribution] of known) expect(geluExact(x)).toBeCloseTo(x * distribution, 14);
  for (let x = -10; x <= 10; x += 0.01) expect(Math.abs(geluExact(x) - gelu(x))).toBeLessThan(5e-4);
  expect([geluExact(30), geluExact(-30), geluExact(0)].map(Math.abs)).toEqual([30, 0, 0]);
});

test('frames of a video become as many tokens as one image, each reading all frames and the order of them', () => {
  const w = weightsOf(3);
  const [size, patches] = [16 * 12, normals(3 * 16 * 12, 8)];
  const video = visionTokens({ frames: 3, rows: 4, columns: 4, patches }, SHAPE, w);
  expect(video.length).toBe(4 * MODEL_WIDTH);
  const changed = patches.slice();
  changed[2 * size] += 1;
  const other = visionTokens({ frames: 3, rows: 4, columns: 4, patches: changed }, SHAPE, w);
  for (let t = 0; t < 4; t++) {
    const own = (x: Float32Array) => x.slice(t * MODEL_WIDTH, (t + 1) * MODEL_WIDTH);
    expect(own(other)).not.toEqual(own(video));
  }
  const reversed = Float32Array.from([
    ...patches.subarray(2 * size),
    ...patches.subarray(size, 2 * size),
    ...patches.subarray(0, size),
  ]);
  const backwards = visionTokens({ frames: 3, rows: 4, columns: 4, patches: reversed }, SHAPE, w);
  expect(relError(backwards, video)).toBeGreaterThan(1e-3);
  for (const frames of [0, 5, 1.5]) {
    expect(() => visionTokens({ frames, rows: 4, columns: 4, patches }, SHAPE, w)).toThrow(/1 to 4 are read/);
  }
});

test('a frame stands in time by sines and cosines, and pooling is the mean over frames', () => {
  expect(Array.from(framePositions(1, 4))).toEqual([0, 0, 1, 1]);
  const second = framePositions(2, 4).subarray(4);
  expect(relError(second, [Math.sin(1), Math.sin(0.01), Math.cos(1), Math.cos(0.01)])).toBeLessThan(1e-7);
  expect(Array.from(poolFrames(Float32Array.of(1, 2, 3, 4, 5, 9), 3))).toEqual([3, 5]);
});
