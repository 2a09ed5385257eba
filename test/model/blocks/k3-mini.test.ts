import {
  decodeText,
  embedTokens,
  encodeText,
  gluOf,
  hashedExpert,
  type K3Event,
  k3Forward,
  k3Sequence,
  k3Weights,
  kda,
  kdaState,
  mixerPattern,
  patternGroups,
  plainExperts,
  seededMaker,
  type VisionWeights,
  visionTokens,
} from '@epsim/model';
import { modelPresets, seedFor } from '@epsim/spec';
import { Arena, createKernel, createMemory, packedBytes, unpackBf16 } from '@epsim/tensor';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { normals, relError } from './support.js';

const shape = modelPresets['kimi-k3-mini'];
const model = { shape, weights: k3Weights(shape, seededMaker(shape, 7)) };
const words = shape.vocabSize;
const text = encodeText('the moon is far\n');
const prefill = await k3Forward(model, k3Sequence(shape), embedTokens(model, text));

test('the miniature keeps the rhythm, the sparsity and the narrow latent of K3', () => {
  expect(patternGroups(shape)).toBe(2);
  expect(shape.layers.map((layer) => layer.attention?.kind)).toEqual(mixerPattern(2));
  expect(shape.moe.expertCount / shape.moe.topK).toBe(896 / 16);
  expect(shape.moe.expertWidth * 2).toBe(shape.hiddenSize);
});

describe('a pass', () => {
  test('gives the same bits at once, token by token, and cut anywhere', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 16 }),
        async (cuts) => {
          const sequence = k3Sequence(shape);
          for (let from = 0, cut = 0; from < text.length; cut++) {
            const to = Math.min(text.length, from + (cuts[cut] ?? 1));
            const logits = await k3Forward(model, sequence, embedTokens(model, text.subarray(from, to)));
            expect(logits).toEqual(prefill.subarray(from * words, to * words));
            from = to;
          }
        },
      ),
      { numRuns: 6, examples: [[Array(16).fill(1)]] },
    );
  });

  test('in chunks agrees with the recurrence', async () => {
    const chunked = await k3Forward(model, k3Sequence(shape), embedTokens(model, text), { chunkTokens: 16 });
    expect(relError(chunked, prefill)).toBeLessThan(1e-3);
  });

  test('never looks ahead', async () => {
    const other = text.slice();
    other[12] = (other[12] + 5) % words;
    const logits = await k3Forward(model, k3Sequence(shape), embedTokens(model, other));
    expect(logits.subarray(0, 12 * words)).toEqual(prefill.subarray(0, 12 * words));
    expect(logits.subarray(12 * words)).not.toEqual(prefill.subarray(12 * words));
  });

  test('with its experts run elsewhere gives the same bits, and every expert layer goes there once', async () => {
    const layers: number[] = [];
    const logits = await k3Forward(model, k3Sequence(shape), embedTokens(model, text), {
      experts: async (layer, latents, choices, out) => {
        layers.push(layer);
        await Promise.resolve();
        const experts = Array.from({ length: shape.moe.expertCount }, (_, e) =>
          hashedExpert(7, layer, e, shape.moe),
        );
        plainExperts(gluOf(shape), experts, latents, shape.moe.expertWidth, choices, out);
      },
    });
    expect(logits).toEqual(prefill);
    expect(layers).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test('shows depth weights that sum to one, choices of two experts, and states that keep their size', async () => {
    const events: K3Event[] = [];
    await k3Forward(model, k3Sequence(shape), embedTokens(model, text), {
      watch: (event) => events.push(event),
    });
    const depth = events.filter((event) => event.kind === 'depth');
    expect(depth.length).toBe(2 * 9);
    for (const { weights, sourceCount } of depth) {
      for (let t = 0; t < text.length; t++) {
        const sum = weights.subarray(t * sourceCount, (t + 1) * sourceCount).reduce((a, b) => a + b, 0);
        expect(sum).toBeCloseTo(1, 5);
      }
    }
    expect(Math.max(...depth.map((event) => event.sourceCount))).toBe(4);
    const routed = events.filter((event) => event.kind === 'experts');
    expect(routed.map(({ choices }) => choices.experts.length)).toEqual(Array(8).fill(2 * text.length));
    const first = events.find((event) => event.kind === 'mixer');
    const { attention } = shape.layers[0];
    const { mixer } = model.weights.layers[0];
    if (first === undefined || attention?.kind !== 'kda' || mixer.kind !== 'kda')
      throw new Error('no first mixer');
    const again = kda(first.input, shape.hiddenSize, attention, mixer.weights, kdaState(attention));
    expect(again).toEqual(first.output);
    const states = events.flatMap((event) => (event.kind === 'mixer' ? [event.state] : []));
    expect(states.filter((state) => 'memory' in state).map((state) => state.memory.length)).toEqual(
      Array(6).fill(4 * 16 * 16),
    );
    expect(states.filter((state) => 'rows' in state).map(({ tokens, width }) => [tokens, width])).toEqual(
      Array(3).fill([16, 20]),
    );
  });
});

test('image tokens and text share one causal stream', async () => {
  const vision = shape.vision!;
  const {
    hiddenSize: h,
    headCount,
    headDim,
    innerSize,
    patchSize,
    positionGrid,
    projectorInnerSize,
    mergeSize,
  } = vision;
  const matrix = (rows: number, columns: number, seed: number) => normals(rows * columns, seed, rows ** -0.5);
  const ones = (length: number) => new Float32Array(length).fill(1);
  const w: VisionWeights = {
    patch: matrix(3 * patchSize ** 2, h, 1),
    positions: normals(positionGrid ** 2 * h, 2, 0.1),
    layers: [3, 13].map((seed) => ({
      attentionNorm: ones(h),
      query: matrix(h, headCount * headDim, seed),
      key: matrix(h, headCount * headDim, seed + 1),
      value: matrix(h, headCount * headDim, seed + 2),
      out: matrix(headCount * headDim, h, seed + 3),
      mlpNorm: ones(h),
      up: matrix(h, innerSize, seed + 4),
      down: matrix(innerSize, h, seed + 5),
    })),
    norm: ones(h),
    projectorIn: matrix(mergeSize ** 2 * h, projectorInnerSize, 30),
    projectorOut: matrix(projectorInnerSize, shape.hiddenSize, 31),
    projectorNorm: ones(shape.hiddenSize),
  };
  const image = (seed: number) =>
    visionTokens({ frames: 1, rows: 4, columns: 4, patches: normals(16 * 48, seed) }, vision, w);
  const stream = (seed: number) =>
    Float32Array.from([...embedTokens(model, text), ...image(seed), ...embedTokens(model, text)]);
  const [a, b] = [
    await k3Forward(model, k3Sequence(shape), stream(50)),
    await k3Forward(model, k3Sequence(shape), stream(51)),
  ];
  expect(a.length).toBe((16 + 4 + 16) * words);
  expect(a.subarray(0, 16 * words)).toEqual(prefill);
  expect(b.subarray(0, 16 * words)).toEqual(prefill);
  expect(a.subarray(35 * words)).not.toEqual(b.subarray(35 * words));
});

test("hashed experts are the numbers that the kernel's fill writes for the same seeds", () => {
  const { expertWidth: width, expertInnerSize: inner } = shape.moe;
  const arena = new Arena(createMemory(1 << 17, { shared: false }));
  const kernel = createKernel(arena.memory);
  const filled = (name: string, k: number, n: number) => {
    const bytes = packedBytes('bf16', k, n);
    const at = arena.alloc(bytes);
    kernel.fillWeightsBf16(at, k, n, seedFor(5, name, 3, 11), Math.sqrt(3 / k));
    const out = new Float32Array(k * n);
    unpackBf16(new Uint16Array(arena.memory.buffer, at, bytes / 2), k, n, out);
    return out;
  };
  const expert = hashedExpert(5, 3, 11, shape.moe);
  const both = filled('expertIn', width, 2 * inner);
  for (let row = 0; row < width; row++) {
    expect(both.subarray(row * 2 * inner, row * 2 * inner + inner)).toEqual(
      expert.gate.subarray(row * inner, (row + 1) * inner),
    );
    expect(both.subarray(row * 2 * inner + inner, (row + 1) * 2 * inner)).toEqual(
      expert.up.subarray(row * inner, (row + 1) * inner),
    );
  }
  expect(filled('expertOut', inner, width)).toEqual(expert.down);
});

test('text survives encoding, and a character outside the vocabulary is refused', () => {
  fc.assert(fc.property(fc.string({ unit: 'grapheme-ascii' }), (any) => decodeText(encodeText(any)) === any));
  expect(() => encodeText('caf\u00e9')).toThrow(/character 3/);
  expect(() => embedTokens(model, [words])).toThrow(RangeError);
});

test('a model that is not like K3 is refused by name', () => {
  const other = modelPresets['kimi-k2'];
  expect(() => k3Weights(other, () => new Float32Array())).toThrow(/kimi-k2/);
});
