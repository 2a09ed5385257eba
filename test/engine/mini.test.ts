import { type CarriedExpertsOptions, carriedExperts, createShardHandler } from '@epsim/engine';
import {
  type ExpertLayer,
  embedTokens,
  encodeText,
  k3Forward,
  k3Sequence,
  k3Weights,
  seededMaker,
} from '@epsim/model';
import { modelPresets } from '@epsim/spec';
import { inlineShards, type ShardPool, threadShards } from '@epsim/transport';
import { shardEntry } from '@epsim/workers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const shape = modelPresets['kimi-k3-mini'];
const seed = 7;
const model = { shape, weights: k3Weights(shape, seededMaker(shape, seed)) };
const text = encodeText('the moon is far\n');
const words = shape.vocabSize;

const inline = (): ShardPool => inlineShards(createShardHandler());
const threads = (workers: number): ShardPool =>
  threadShards({ entry: shardEntry, workers, timeoutMs: 30_000 });

interface Case {
  readonly rankCount?: number;
  readonly shardCount?: number;
  readonly pool?: ShardPool;
  readonly watch?: CarriedExpertsOptions['watch'];
}

async function withEngine<T>(c: Case, use: (experts: ExpertLayer) => Promise<T>): Promise<T> {
  const experts = carriedExperts({
    model: shape,
    seed,
    rankCount: c.rankCount ?? 8,
    maxTokens: text.length,
    shardCount: () => c.shardCount ?? 1,
    reach: c.pool ?? inline(),
    ...(c.watch ? { watch: c.watch } : {}),
  });
  try {
    return await use(experts.run);
  } finally {
    await experts.close();
  }
}

const prefill = (c: Case) =>
  withEngine(c, (experts) => k3Forward(model, k3Sequence(shape), embedTokens(model, text), { experts }));

const plain = await k3Forward(model, k3Sequence(shape), embedTokens(model, text));
const carried = await prefill({});

describe('the miniature with its expert layers on the engine', () => {
  test('gives the logits of plain in-process experts, 1e-4 of the largest apart by the order and precision of sums', () => {
    const largest = plain.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const error = plain.reduce((most, value, i) => Math.max(most, Math.abs(value - carried[i])), 0);
    expect(error).toBeGreaterThan(0);
    expect(error / largest).toBeLessThan(1e-4);
  });

  test('gives equal bits inline and on threads, whatever the number of workers', async () => {
    for (const workers of [1, 2]) {
      expect(await prefill({ pool: threads(workers), shardCount: workers })).toEqual(carried);
    }
    expect(await prefill({ shardCount: 3 })).toEqual(carried);
  });

  test('gives equal bits in prefill and token by token, cut anywhere', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 16 }),
        async (cuts) => {
          await withEngine({}, async (experts) => {
            const sequence = k3Sequence(shape);
            for (let from = 0, cut = 0; from < text.length; cut++) {
              const to = Math.min(text.length, from + (cuts[cut] ?? 1));
              const x = embedTokens(model, text.subarray(from, to));
              const logits = await k3Forward(model, sequence, x, { experts });
              expect(logits).toEqual(carried.subarray(from * words, to * words));
              from = to;
            }
          });
        },
      ),
      { numRuns: 4, examples: [[Array(16).fill(1)]] },
    );
  });

  test('moves the planned bytes in each of its eight expert layers, a row once to each rank that has its experts', async () => {
    const layers: number[] = [];
    await prefill({
      watch: (layer, plan, receivedBytes) => {
        layers.push(layer);
        const rows = plan.rowsPerPair.reduce((a, b) => a + b, 0);
        expect(receivedBytes).toBe(2 * rows * shape.moe.expertWidth * 4);
        expect(rows).toBeGreaterThanOrEqual(text.length);
        expect(rows).toBeLessThanOrEqual(text.length * shape.moe.topK);
        expect(plan.tokensPerSlot.reduce((a, b) => a + b, 0)).toBe(text.length * shape.moe.topK);
      },
    });
    expect(layers).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test('refuses rows that the plan does not have', async () => {
    await withEngine({}, async (experts) => {
      const choices = { experts: new Int32Array(2), weights: new Float32Array(2) };
      const width = shape.moe.expertWidth;
      await expect(experts(1, new Float32Array(width), choices, new Float32Array(2 * width))).rejects.toThrow(
        /rows of 32 and 64 elements for a plan of \[1 x 32\]/,
      );
    });
  });
});
