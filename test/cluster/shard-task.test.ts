import { decodeTask, encodeTask, ShardWorker } from '@epsim/cluster';
import type { LayerWork, ShardTask } from '@epsim/engine';
import fc from 'fast-check';
import { Packr, Unpackr } from 'msgpackr';
import { expect, test } from 'vitest';
import { planOf, sessionOf } from '../support/carried.js';
import { shardJob } from '../support/cluster.js';

const shape = { rankCount: 4, expertCount: 8, topK: 2, tokensPerRank: 5, seed: 3 };

/** The tasks that a session would send out. */
async function tasks(): Promise<ShardTask[]> {
  let seen: LayerWork | null = null;
  const pool = {
    carryLayer: async (work: LayerWork) => {
      seen = work;
      throw new Error('seen');
    },
    close: async () => {},
  };
  await sessionOf({ shape, shardCount: 2, pool })
    .carry(planOf({ shape }), 1, 0)
    .catch(() => {});
  const work = seen as unknown as LayerWork;
  return work.parts.map((part, shard) => ({ part, step: 1, layer: 0, memoryBytes: work.mostBytes[shard] }));
}

test('a task comes back as it went', async () => {
  for (const task of await tasks()) expect(decodeTask(encodeTask(task))).toEqual(task);
});

test('a task with any number or array replaced is a task in range, or refused', async () => {
  const [task] = await tasks();
  const bytes = encodeTask(task);
  const packr = new Packr({ useRecords: false, moreTypes: true });
  const unpackr = new Unpackr({ useRecords: false, moreTypes: true });
  const keys = ['lists', 'lists', 'lists', 'groupWeights', 'tokenCounts', 'slotExpert'];
  let refused = 0;
  fc.assert(
    fc.property(
      fc.constantFrom(...keys),
      fc.nat(1000),
      fc.oneof(fc.integer({ min: -5, max: 20 }), fc.integer({ min: -5, max: 2 ** 31 - 1 })),
      fc.integer({ min: -2, max: 0 }),
      (key, at, value, longer) => {
        const raw = unpackr.unpack(bytes);
        raw[key][at % raw[key].length] = value;
        if (key === 'lists') raw[key] = raw[key].slice(0, raw[key].length + longer);
        try {
          const { part } = decodeTask(packr.pack(raw));
          for (const plan of part.plans) {
            const arrived = plan.recvOffsets[shape.rankCount];
            expect(plan.groupRows.every((row) => row >= 0 && row < arrived)).toBe(true);
            expect(plan.sendTokens.every((token) => token >= 0 && token < plan.tokenCount)).toBe(true);
            expect(plan.sendTokens).toHaveLength(plan.sendOffsets[shape.rankCount]);
            expect(plan.groupWeights).toHaveLength(plan.groupRows.length);
          }
        } catch (thrown) {
          if (!(thrown instanceof RangeError)) throw thrown;
          refused++;
        }
      },
    ),
    { numRuns: 500 },
  );
  expect(refused).toBeGreaterThan(100);
});

test('bytes that are no task are refused', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(() => decodeTask(bytes)).toThrow(RangeError);
    }),
  );
  expect(() => decodeTask(new Packr().pack({ step: 1 }))).toThrow(/a task that is none/);
});

test('a job that is no job, or of another version, is refused before anything is read', async () => {
  const worker = new ShardWorker({ url: 'redis://127.0.0.1:1', version: '1', threads: 1, name: 'w' });
  const nothing = null as never;
  // BullMQ knows by this name that trying again is in vain.
  const name = 'UnrecoverableError';
  await expect(worker.handle({ code: 'rm -rf' }, nothing)).rejects.toMatchObject({ name });
  const job = shardJob({ version: '2' });
  const message = expect.stringMatching(/versions do not mix/);
  await expect(worker.handle(job, nothing)).rejects.toMatchObject({ name, message });
});
