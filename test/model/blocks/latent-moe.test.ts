import {
  chooseExperts,
  gluNetwork,
  type LatentMoeWeights,
  latentMoe,
  rmsNorm,
  routerScores,
} from '@epsim/model';
import { type MoeShape, NO_EXPERT } from '@epsim/spec';
import { Arena, createKernel, createMemory, type Glu, packedBytes, packF32, roundUp } from '@epsim/tensor';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anySeed, normals, relError } from './support.js';

const GLU: Glu = { kind: 'situ', gateBound: 4, upBound: 25 };
const [HIDDEN, WIDTH, INNER, EXPERTS, TOP_K] = [16, 8, 12, 10, 3];

const MOE: MoeShape = {
  kind: 'moe',
  expertCount: EXPERTS,
  topK: TOP_K,
  expertWidth: WIDTH,
  expertInnerSize: INNER,
  latent: true,
  latentNorm: true,
  sharedExpertCount: 2,
  sharedInnerSize: INNER,
  scoring: 'sigmoid',
  renormalize: true,
  routedScaling: 1,
  selectionBias: true,
  groupCount: 1,
  topGroupCount: 1,
  bias: false,
  gated: true,
};

function network(width: number, inner: number, seed: number) {
  return {
    gate: normals(width * inner, seed, width ** -0.5),
    up: normals(width * inner, seed + 1, width ** -0.5),
    down: normals(inner * width, seed + 2, inner ** -0.5),
  };
}

function weightsOf(seed: number): LatentMoeWeights {
  return {
    router: normals(HIDDEN * EXPERTS, seed, HIDDEN ** -0.5),
    selectionBias: normals(EXPERTS, seed + 1, 0.1),
    latent: {
      down: normals(HIDDEN * WIDTH, seed + 2, HIDDEN ** -0.5),
      norm: normals(WIDTH, seed + 3),
      up: normals(WIDTH * HIDDEN, seed + 4, WIDTH ** -0.5),
    },
    experts: Array.from({ length: EXPERTS }, (_, e) => network(WIDTH, INNER, seed + 10 + 3 * e)),
    shared: network(HIDDEN, 2 * INNER, seed + 5),
  };
}

/** The same network on tensor's vector kernel, gate and up in one product. */
function onKernel(x: Float32Array, width: number, w: ReturnType<typeof network>): Float32Array {
  const inner = w.down.length / width;
  const rows = x.length / width;
  const arena = new Arena(createMemory(1 << 20, { shared: false }));
  const kernel = createKernel(arena.memory);
  const packed = (matrix: Float32Array, k: number, n: number) => {
    const out = arena.f32(packedBytes('f32', k, n) / 4);
    packF32(matrix, k, n, out);
    return out.byteOffset;
  };
  const a = arena.f32(x.length);
  a.set(x);
  const wide = roundUp(inner, 8);
  const [gate, up] = [arena.f32(rows * wide), arena.f32(rows * wide)];
  const out = arena.f32(rows * roundUp(width, 8));
  kernel.gemmF32({
    a: a.byteOffset,
    b: packed(w.gate, width, inner),
    c: gate.byteOffset,
    m: rows,
    k: width,
    n: inner,
  });
  kernel.gemmF32({
    a: a.byteOffset,
    b: packed(w.up, width, inner),
    c: up.byteOffset,
    m: rows,
    k: width,
    n: inner,
  });
  const offsets = { gate: gate.byteOffset, up: up.byteOffset, out: gate.byteOffset };
  kernel.glu(GLU, { ...offsets, rows, width: wide });
  const down = packed(w.down, inner, width);
  kernel.gemmF32({
    a: gate.byteOffset,
    b: down,
    c: out.byteOffset,
    m: rows,
    k: inner,
    n: width,
    aStride: wide,
  });
  return out;
}

test('an expert in plain loops is the same expert on the vector kernel', () => {
  fc.assert(
    fc.property(anySeed(), fc.integer({ min: 1, max: 6 }), (seed, rows) => {
      const w = network(WIDTH, INNER, seed);
      const x = normals(rows * WIDTH, seed + 9, 2);
      expect(relError(onKernel(x, WIDTH, w), gluNetwork(GLU, w, x, WIDTH))).toBeLessThan(3e-6);
    }),
    { numRuns: 25 },
  );
});

test('selection sees the bias, gate weights do not, and they sum to one', () => {
  fc.assert(
    fc.property(anySeed(), fc.integer({ min: 1, max: 7 }), (seed, tokens) => {
      const weights = weightsOf(seed);
      const scores = routerScores(normals(tokens * HIDDEN, seed + 7), weights.router, HIDDEN, EXPERTS);
      const { experts, weights: gates } = chooseExperts(scores, weights.selectionBias, MOE);
      for (let token = 0; token < tokens; token++) {
        const chosen = Array.from(experts.subarray(token * TOP_K, (token + 1) * TOP_K));
        const own = gates.subarray(token * TOP_K, (token + 1) * TOP_K);
        const biased = (e: number) => Math.fround(scores[token * EXPERTS + e] + weights.selectionBias[e]);
        const weakest = Math.min(...chosen.map(biased));
        const others = Array.from({ length: EXPERTS }, (_, e) => e).filter((e) => !chosen.includes(e));
        expect(Math.max(...others.map(biased))).toBeLessThanOrEqual(weakest);
        expect(own.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 6);
        expect(own[0] / own[1]).toBeCloseTo(
          scores[token * EXPERTS + chosen[0]] / scores[token * EXPERTS + chosen[1]],
          5,
        );
      }
    }),
    { numRuns: 40 },
  );
});

test('a model that does not renormalise keeps its scores, and the routed scaling multiplies either', () => {
  const scores = Float32Array.of(0.9, 0.1, 0.5, 0.6);
  const gates = (renormalize: boolean) => {
    const moe = { ...MOE, expertCount: 4, topK: 2, renormalize, routedScaling: 2.5 };
    return Array.from(chooseExperts(scores, new Float32Array(4), moe).weights);
  };
  gates(true).forEach((gate, i) => {
    expect(gate).toBeCloseTo([1.5, 1][i], 5);
  });
  gates(false).forEach((gate, i) => {
    expect(gate).toBeCloseTo([2.25, 1.5][i], 5);
  });
});

test('the layer is its formula: experts in the latent, normed, projected up, plus the shared experts', () => {
  const weights = weightsOf(3);
  const x = normals(HIDDEN, 8);
  const choices = { experts: Int32Array.of(7, 2, NO_EXPERT), weights: Float32Array.of(0.75, 0.25, 0) };
  const z = new Float32Array(WIDTH);
  for (let j = 0; j < WIDTH; j++)
    for (let i = 0; i < HIDDEN; i++) z[j] += x[i] * weights.latent!.down[i * WIDTH + j];
  const [a, b] = [7, 2].map((e) => gluNetwork(GLU, weights.experts[e], z, WIDTH));
  const y = rmsNorm(
    a.map((value, i) => 0.75 * value + 0.25 * b[i]),
    weights.latent!.norm!,
  );
  const shared = gluNetwork(GLU, weights.shared!, x, HIDDEN);
  const expected = shared.map((value, j) => {
    let sum = value;
    for (let i = 0; i < WIDTH; i++) sum += y[i] * weights.latent!.up[i * HIDDEN + j];
    return sum;
  });
  expect(relError(latentMoe(x, HIDDEN, WIDTH, GLU, weights, choices), expected)).toBeLessThan(2e-6);
});

test('a token gives the same bits alone and in a batch', () => {
  const weights = weightsOf(5);
  const x = normals(4 * HIDDEN, 6);
  const choices = chooseExperts(routerScores(x, weights.router, HIDDEN, EXPERTS), weights.selectionBias, MOE);
  const together = latentMoe(x, HIDDEN, WIDTH, GLU, weights, choices);
  for (let token = 0; token < 4; token++) {
    const own = {
      experts: choices.experts.subarray(token * TOP_K, (token + 1) * TOP_K),
      weights: choices.weights.subarray(token * TOP_K, (token + 1) * TOP_K),
    };
    const alone = latentMoe(
      x.subarray(token * HIDDEN, (token + 1) * HIDDEN),
      HIDDEN,
      WIDTH,
      GLU,
      weights,
      own,
    );
    expect(alone).toEqual(together.subarray(token * HIDDEN, (token + 1) * HIDDEN));
  }
});

test('experts at full width need no projections', () => {
  const experts = Array.from({ length: 4 }, (_, e) => network(HIDDEN, INNER, 40 + 3 * e));
  const weights: LatentMoeWeights = { ...weightsOf(1), latent: null, experts, shared: null };
  const x = normals(HIDDEN, 2);
  const one = { experts: Int32Array.of(3), weights: Float32Array.of(1) };
  expect(latentMoe(x, HIDDEN, HIDDEN, GLU, weights, one)).toEqual(gluNetwork(GLU, experts[3], x, HIDDEN));
});
