import {
  addSublayer,
  blockCount,
  closeBlock,
  depthSources,
  depthState,
  mixDepth,
  mixerPattern,
  patternGroups,
} from '@epsim/model';
import { modelPresets } from '@epsim/spec';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anySeed, normals, relError } from './support.js';

/** Sources whose logit against the query (1, 0, ...) is `logit`: rms 1, so the first channel is the logit. */
function sourceWithLogit(logit: number, hidden: number): Float32Array {
  const rest = Math.sqrt((hidden - logit ** 2) / (hidden - 1));
  return Float32Array.from({ length: hidden }, (_, i) => (i === 0 ? logit : rest));
}

test('scores (2, 1, 0) and (0, 2, 1) give weights (.665, .245, .090) and (.090, .665, .245)', () => {
  const hidden = 64;
  const query = new Float32Array(hidden);
  query[0] = 1;
  const depth = { query, gain: new Float32Array(hidden).fill(1) };
  const scores = [
    [2, 1, 0],
    [0, 2, 1],
  ];
  const sources = [0, 1, 2].map((s) =>
    Float32Array.from(scores.flatMap((token) => Array.from(sourceWithLogit(token[s], hidden)))),
  );
  const { weights } = mixDepth(sources, depth);
  expect(Array.from(weights, (x) => x.toFixed(3))).toEqual([
    '0.665',
    '0.245',
    '0.090',
    '0.090',
    '0.665',
    '0.245',
  ]);
});

test('weights sum to one, a query of zeros takes the mean, and one source alone passes unchanged', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 4 }),
      anySeed(),
      (count, tokens, seed) => {
        const hidden = 8;
        const sources = Array.from({ length: count }, (_, s) => normals(tokens * hidden, seed + s, s + 1));
        const gain = normals(hidden, seed + 20);
        const { weights } = mixDepth(sources, { query: normals(hidden, seed + 21), gain });
        for (let t = 0; t < tokens; t++) {
          expect(weights.subarray(t * count, (t + 1) * count).reduce((a, b) => a + b, 0)).toBeCloseTo(1, 6);
        }
        const even = mixDepth(sources, { query: new Float32Array(hidden), gain }).mixed;
        const mean = even.map((_, i) => sources.reduce((sum, source) => sum + source[i], 0) / count);
        expect(relError(even, mean)).toBeLessThan(1e-6);
        expect(mixDepth([sources[0]], { query: gain, gain }).mixed).toEqual(sources[0]);
      },
    ),
    { numRuns: 40 },
  );
});

test('a source ten times larger is chosen no more often, but read at its own size', () => {
  const hidden = 16;
  const depth = { query: normals(hidden, 1), gain: normals(hidden, 2) };
  const sources = [normals(hidden, 3, 3), normals(hidden, 4, 3)];
  const plain = mixDepth(sources, depth);
  const larger = mixDepth([sources[0], sources[1].map((x) => 10 * x)], depth);
  expect(relError(larger.weights, plain.weights)).toBeLessThan(1e-5);
  const expected = sources[0].map((x, i) => plain.weights[0] * x + plain.weights[1] * 10 * sources[1][i]);
  expect(relError(larger.mixed, expected)).toBeLessThan(1e-5);
});

test('a logit is the query times the gain, over the normed source', () => {
  const depth = { query: Float32Array.of(1, 2), gain: Float32Array.of(3, -0.5) };
  const { weights } = mixDepth([Float32Array.of(3, 4), Float32Array.of(-1, 1)], depth);
  const [first, second] = [(3 * 3 - 4) / Math.sqrt(12.5), (-3 - 1) / 1];
  expect(weights[0]).toBeCloseTo(1 / (1 + Math.exp(second - first)), 4);
});

test("K3's 93 layers in blocks of 12 leave 8 summaries, and at most 9 sources", () => {
  const state = depthState(Float32Array.of(1));
  let most = 0;
  for (let layer = 0; layer < 93; layer++) {
    closeBlock(state, layer, 12);
    addSublayer(state, Float32Array.of(1));
    most = Math.max(most, depthSources(state).length);
  }
  expect([state.blocks.length, most, blockCount(93, 12)]).toEqual([8, 9, 8]);
  expect(state.blocks.map((block) => block[0])).toEqual([1, 12, 12, 12, 12, 12, 12, 12]);
  expect(state.partial?.[0]).toBe(9);
});

test('in one block that never closes the running sum is the ordinary residual', () => {
  const outputs = [1, 2, 3].map((seed) => normals(4, seed));
  const embedding = normals(4, 9);
  const state = depthState(embedding);
  for (const output of outputs) addSublayer(state, output);
  const residual = outputs.reduce((sum, output) => sum.map((x, i) => x + output[i]), embedding);
  expect(state.partial).toEqual(residual);
  expect(embedding).toEqual(normals(4, 9));
});

test('sources of unequal size, and none, are refused', () => {
  const depth = { query: new Float32Array(4), gain: new Float32Array(4) };
  expect(() => mixDepth([], depth)).toThrow(RangeError);
  expect(() => mixDepth([new Float32Array(4), new Float32Array(8)], depth)).toThrow(/4, 8/);
});

test('the rhythm of K3 is 23 groups of four and one more global read', () => {
  const pattern = mixerPattern(23);
  expect(pattern.length).toBe(93);
  expect(pattern.filter((kind) => kind === 'kda').length).toBe(69);
  expect(pattern.flatMap((kind, layer) => (kind === 'mla' ? [layer + 1] : []))).toEqual([
    ...Array.from({ length: 23 }, (_, group) => 4 * (group + 1)),
    93,
  ]);
  expect(patternGroups(modelPresets['kimi-k3'])).toBe(23);
  expect(patternGroups(modelPresets['kimi-k2'])).toBe(null);
});
