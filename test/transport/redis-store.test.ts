import { ClusterFailure } from '@epsim/transport';
import { encodeFrames, FrameStore, FramesLost, noRefusals, RunMovedOn } from '@epsim/transport/redis';
import { beforeAll, describe, expect, test } from 'vitest';
import { redisBinary, startRedis, type TestRedis } from '../support/redis.js';

describe.skipIf(redisBinary === null)('channels of frames', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
    return () => redis.close();
  }, 60_000);
  const options = { run: 'r', token: 'r.0', expireMs: 60_000, patienceMs: 2000 };
  const alive = () => redis.admin.set('epsim:run:r', 'r.0');
  const blocks = [0, 1, 2].map((from) => ({ from, to: 5, bytes: new Uint8Array(400_000).fill(from + 1) }));
  const taken = async (store: FrameStore, channel: { channel: string; frames: number }) => {
    const out = [0, 1, 2].map(() => [] as Buffer[]);
    await store.take(channel, ({ from, bytes }) => out[from].push(Buffer.from(bytes)));
    return out.map((parts) => Buffer.concat(parts));
  };
  const takesAll = async (store: FrameStore, channel: { channel: string; frames: number }) =>
    (await taken(store, channel)).every((bytes, i) => bytes.equals(blocks[i].bytes));

  test('give back what was put, again and again, until they are dropped, and would expire by themselves', async () => {
    await alive();
    const store = new FrameStore(redis.admin, options);
    const channel = await store.put('rows', blocks);
    expect(channel.frames).toBe(6);
    for (let i = 0; i < 2; i++) expect(await takesAll(store, channel)).toBe(true);
    expect(await redis.admin.pttl('epsim:run:r:rows')).toBeGreaterThan(50_000);
    await store.drop([channel]);
    expect(await redis.admin.exists('epsim:run:r:rows')).toBe(0);
    await expect(taken(store, channel)).rejects.toThrow(FramesLost);
  });

  test('pass over and count what is malformed, too large, damaged, foreign or there twice', async () => {
    await alive();
    const store = new FrameStore(redis.admin, options);
    const channel = await store.put('more', blocks);
    const key = 'epsim:run:r:more';
    const first = await redis.admin.lindexBuffer(key, 1);
    const damaged = Buffer.from(first!);
    damaged[5000] ^= 0xff;
    const [foreign] = encodeFrames('another', 'more', blocks);
    await redis.admin.lpush(key, Buffer.from('?'), Buffer.alloc(40_000_000), damaged, foreign);
    await redis.admin.rpush(key, first!, first!);
    expect(await takesAll(store, channel)).toBe(true);
    expect(store.refused).toEqual({ malformed: 1, oversized: 1, damaged: 1, foreign: 1, replayed: 2 });
    await redis.admin.del(key);
  });

  test('take nothing from an attempt whose run has moved on', async () => {
    await redis.admin.set('epsim:run:r', 'r.1');
    const store = new FrameStore(redis.admin, options);
    await expect(store.put('late', blocks)).rejects.toThrow(RunMovedOn);
    await expect(store.checkToken()).rejects.toThrow(RunMovedOn);
    expect(await redis.admin.exists('epsim:run:r:late')).toBe(0);
    expect(store.refused).toEqual(noRefusals());
  });

  test('wait for a silent Redis no longer than they may', async () => {
    await alive();
    const store = new FrameStore(redis.admin, { ...options, patienceMs: 200 });
    await redis.admin.client('PAUSE', 1500, 'ALL');
    await expect(store.checkToken()).rejects.toThrow(ClusterFailure);
  });
});
