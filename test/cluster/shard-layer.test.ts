import { getEventListeners } from 'node:events';
import { ShardLayer, ShardWorker } from '@epsim/cluster';
import { inboxKey, Mail, RunMovedOn } from '@epsim/transport/redis';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { shardJob } from '../support/cluster.js';
import { redisBinary, startRedis, type TestRedis } from '../support/redis.js';

describe.skipIf(redisBinary === null)('a shard whose layer goes wrong', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
    return () => redis.close();
  }, 60_000);
  afterEach(() => redis.admin.flushall());

  /** What the coordinator hears of a layer whose task is not there. */
  async function heard(checkLock: () => Promise<void>): Promise<unknown[]> {
    const options = { run: 'r', expireMs: 60_000, patienceMs: 2000 };
    const mail = new Mail(redis.admin, options, 3);
    mail.open(0, [new Uint8Array(8)]);
    await mail.settled();
    const job = shardJob(options);
    const layer = new ShardLayer(job, 3, redis.admin, async () => [], checkLock);
    const carried = layer.carry(null as never, [], 1, () => {});
    await carried.catch((thrown) => expect(thrown).toBeInstanceOf(RunMovedOn));
    const entries = await redis.admin.xrange(inboxKey('r', 3, 'coordinator'), '-', '+');
    return entries.map(([, [, words]]) => JSON.parse(words));
  }

  test("says so while it is its holder's", async () => {
    expect(await heard(async () => {})).toMatchObject([{ shard: 0, outcome: 'lost' }]);
  });

  test("says nothing once it is another one's", async () => {
    const gone = async () => {
      throw new RunMovedOn('shard 0 is not ours any more');
    };
    expect(await heard(gone)).toEqual([]);
  });
});

test('a lane that serves many runs keeps nothing of those that are over', async () => {
  const leave = new AbortController();
  const worker = new ShardWorker({ url: 'redis://127.0.0.1:1', version: '1', threads: 1, name: 'w' });
  const job = shardJob({ patienceMs: 100 });
  const hold = { leave: leave.signal, lock: { key: 'k', token: 't' }, doing: () => {} };
  await expect(worker.handle(job, hold)).rejects.toThrow(/Redis cannot be used/);
  await worker.close();
  expect(getEventListeners(leave.signal, 'abort')).toEqual([]);
});
