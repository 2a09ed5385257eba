import { createReference, createShardHandler, errorTolerance, type RowPort } from '@epsim/engine';
import type { RowFormat } from '@epsim/tensor';
import { inlineShards, threadShards } from '@epsim/transport';
import { shardEntry } from '@epsim/workers';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { type CarryCase, planOf, sessionOf, smallModel } from '../support/carried.js';
import type { SmallShape } from '../support/routings.js';

const anyShape = (): fc.Arbitrary<SmallShape> =>
  fc
    .record({
      rankCount: fc.integer({ min: 1, max: 6 }),
      tokensPerRank: fc.integer({ min: 1, max: 9 }),
      expertCount: fc.integer({ min: 1, max: 20 }),
      topK: fc.integer({ min: 1, max: 5 }),
      seed: fc.integer({ min: 0, max: 1e6 }),
    })
    .map((s) => ({ ...s, expertCount: Math.max(s.expertCount, s.topK) }));

const carry = async (c: CarryCase) => {
  const session = sessionOf(c);
  try {
    return await session.carry(planOf(c), 0, 0);
  } finally {
    await session.close();
  }
};

describe('a carried layer', () => {
  test('lets signals and signs of life through while the reference is computed', async () => {
    const shape = { rankCount: 2, tokensPerRank: 64, expertCount: 64, topK: 8, seed: 5 };
    const model = { hiddenSize: 512, expertWidth: 512, innerSize: 512 };
    const reference = createReference(smallModel(shape, model), 128);
    // A clock on which every expert takes longer than the event loop may wait.
    let ms = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (ms += 1000));
    let turns = 0;
    let next = setImmediate(function beat() {
      turns++;
      next = setImmediate(beat);
    });
    await reference.layer(planOf({ shape, model }).routing, 0, 0);
    clearImmediate(next);
    clock.mockRestore();
    expect(turns).toBeGreaterThanOrEqual(shape.expertCount - 1);
  });

  test('is the same whether it is compared with the reference or not', async () => {
    const shape = { rankCount: 4, expertCount: 8, topK: 2, tokensPerRank: 5, seed: 3 };
    const session = sessionOf({ shape });
    const { maxAbsError, maxRelError, ...rest } = await session.carry(planOf({ shape }), 0, 0);
    const unchecked = await session.carry(planOf({ shape }), 0, 0, false);
    await session.close();
    expect(maxAbsError).toBeGreaterThan(0);
    expect(maxRelError).toBeGreaterThan(0);
    expect(unchecked).toEqual({ ...rest, maxAbsError: null, maxRelError: null });
  });

  test('equals the single-process reference for any shape, replicas, dropped choices and either dispatch', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyShape(),
        fc.boolean(),
        fc.boolean(),
        fc.integer({ min: 0, max: 2 }),
        fc.integer({ min: 1, max: 3 }),
        async (shape, perChoice, holes, spare, shardCount) => {
          const result = await carry({ shape, perChoice, holes, spare, shardCount });
          expect(result.maxRelError).toBeLessThan(1e-5);
          expect(result.tokens).toBe(shape.rankCount * shape.tokensPerRank);
        },
      ),
      { numRuns: 60 },
    );
  });

  test.each(['bf16', 'fp8', 'mxfp8', 'mxfp4'] as const)(
    'stays within the stated tolerance in %s rows',
    async (format: RowFormat) => {
      const shape = { rankCount: 4, tokensPerRank: 16, expertCount: 24, topK: 4, seed: 5 };
      const result = await carry({
        shape,
        format,
        model: { hiddenSize: 256, expertWidth: 128, innerSize: 32 },
      });
      expect(result.maxRelError).toBeGreaterThan(1e-4);
      expect(result.maxRelError).toBeLessThan(errorTolerance[format]);
    },
  );

  test('works without a latent, without its norm, without shared experts and with SwiGLU', async () => {
    const shape = { rankCount: 3, tokensPerRank: 5, expertCount: 9, topK: 3, seed: 1 };
    for (const model of [
      { latent: false, expertWidth: 32 },
      { latentNorm: false },
      { sharedInnerSize: 0 },
      { glu: { kind: 'swiglu' } as const },
    ]) {
      expect((await carry({ shape, model })).maxRelError).toBeLessThan(1e-5);
    }
  });

  test('gives the same error to the last bit inline and on threads, whatever the number of workers', async () => {
    const shape = { rankCount: 4, tokensPerRank: 7, expertCount: 12, topK: 3, seed: 3 };
    const results = [await carry({ shape })];
    for (const workers of [1, 2, 4]) {
      const pool = threadShards({ entry: shardEntry, workers, timeoutMs: 30_000 });
      results.push(await carry({ shape, pool, shardCount: workers }));
    }
    for (const result of results) expect(result).toEqual(results[0]);
  });
});

describe('what is wrong on the way is caught', () => {
  const shape = { rankCount: 3, tokensPerRank: 6, expertCount: 9, topK: 3, seed: 11 };
  const size = 64;
  const tampered =
    (deliver: (port: RowPort, ...args: Parameters<RowPort['deliver']>) => void) =>
    (port: RowPort): RowPort => ({
      ...port,
      deliver: (...args) => deliver(port, ...args),
    });

  test('a lost row', async () => {
    const wrapPort = tampered((port, leg, from, to, rows) =>
      port.deliver(
        leg,
        from,
        to,
        leg === 'dispatch' && from === 0 ? rows.subarray(0, rows.length - size) : rows,
      ),
    );
    await expect(carry({ shape, wrapPort })).rejects.toThrow(
      /invariant: dispatch: rank \d has \d+ of \d+ rows from rank 0/,
    );
  });

  test('a doubled row', async () => {
    const wrapPort = tampered((port, leg, from, to, rows) => {
      port.deliver(leg, from, to, rows);
      if (leg === 'combine' && from === 1 && to === 2) port.deliver(leg, from, to, rows.subarray(0, size));
    });
    await expect(carry({ shape, wrapPort })).rejects.toThrow(
      /invariant: combine: rank 2 has \d+ of \d+ rows from rank 1/,
    );
  });

  test('a row that arrives empty', async () => {
    const wrapPort = tampered((port, leg, from, to, rows) =>
      port.deliver(
        leg,
        from,
        to,
        leg === 'dispatch' && from === 1 && to === 0 ? rows.slice().fill(0, 0, size) : rows,
      ),
    );
    await expect(carry({ shape, wrapPort })).rejects.toThrow(/differs from the single-process reference/);
  });

  test('two rows in the wrong order', async () => {
    const wrapPort = tampered((port, leg, from, to, rows) => {
      const swapped = rows.slice();
      if (leg === 'combine' && rows.length >= 2 * size) {
        swapped.set(rows.subarray(size, 2 * size), 0);
        swapped.set(rows.subarray(0, size), size);
      }
      port.deliver(leg, from, to, swapped);
    });
    await expect(carry({ shape, wrapPort })).rejects.toThrow(/differs from the single-process reference/);
  });

  test('a wrong gate weight', async () => {
    const handler = createShardHandler();
    const pool = inlineShards((call) => {
      if (call.method === 'compute') {
        const [plan] = (call.args as { plans: readonly { groupWeights: Float32Array }[] }).plans;
        plan.groupWeights[0] *= 1.5;
      }
      return handler(call);
    });
    await expect(carry({ shape, pool })).rejects.toThrow(/differs from the single-process reference/);
  });

  test('a shard that fails is told with its ranks, step and layer', async () => {
    const handler = createShardHandler();
    const pool = inlineShards((call) => {
      if (call.shard === 1 && call.method === 'compute') throw new Error('out of cheese');
      return handler(call);
    });
    const session = sessionOf({ shape, pool, shardCount: 2 });
    await expect(session.carry(planOf({ shape }), 4, 1)).rejects.toThrow(
      'shard 1 failed in compute: out of cheese (ranks 1 to 2, step 4, layer 1)',
    );
  });
});
