import { setTimeout as sleep } from 'node:timers/promises';
import { ClusterFailure } from '@epsim/transport';
import {
  Arrivals,
  bounded,
  encodeFrames,
  inboxKey,
  Mail,
  MailReader,
  ordersKey,
  RedisRun,
  RunMovedOn,
} from '@epsim/transport/redis';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { redisBinary, startRedis, type TestRedis } from '../support/redis.js';

const blocks = [0, 1, 2].map((from) => ({ from, to: 5, bytes: new Uint8Array(400_000).fill(from + 1) }));

describe.skipIf(redisBinary === null)('inboxes', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
    return () => redis.close();
  }, 60_000);
  afterEach(() => redis.admin.flushall());
  const options = { run: 'r', expireMs: 60_000, patienceMs: 2000 };
  const task = new Uint8Array([1, 2, 3]);
  const opened = async (beginning: number) => {
    const mail = new Mail(redis.admin, options, beginning);
    mail.open(0, [task, task]);
    await mail.settled();
    return mail;
  };

  test('give what was sent to whoever reads them, from their start, and would expire by themselves', async () => {
    const mail = await opened(7);
    await mail.send([{ to: 1, channel: '7.rows', blocks }]);
    await mail.settled();
    const key = inboxKey('r', 7, 1);
    for (let readers = 0; readers < 2; readers++) {
      const reader = new MailReader(redis.admin, 2000);
      const arrivals = new Arrivals('r', new Map([['7.rows', 'rows']]));
      const got = [0, 1, 2].map(() => [] as Buffer[]);
      for (
        let entries = await reader.read([key], 10);
        entries.length > 0;
        entries = await reader.read([key], 10)
      ) {
        for (const { bytes } of entries.filter(({ kind }) => kind === 'frame')) {
          for (const piece of arrivals.take(bytes)?.frame.pieces ?? [])
            got[piece.from].push(Buffer.from(piece.bytes));
        }
      }
      got.forEach((parts, i) => {
        expect(Buffer.concat(parts).equals(blocks[i].bytes)).toBe(true);
      });
    }
    for (const one of await redis.admin.keys('*'))
      expect(await redis.admin.pttl(one)).toBeGreaterThan(50_000);
  });

  test('hold the last order only, with its task', async () => {
    await opened(1);
    await opened(2);
    const reader = new MailReader(redis.admin, 2000);
    const entries = await reader.read([ordersKey('r', 0, 0)], 10);
    expect(entries.map(({ kind }) => kind)).toEqual(['order', 'frame']);
    expect(JSON.parse(entries[0].bytes.toString())).toEqual({ beginning: 2, frames: 1 });
  });

  test('keep what they hold when the order to make them comes again, as from a connection that broke', async () => {
    const mail = await opened(4);
    await mail.send([{ to: 1, channel: '4.rows', blocks }]);
    mail.open(0, [task, task]);
    await mail.settled();
    expect(await redis.admin.xlen(inboxKey('r', 4, 1))).toBe(6);
    const [last] = await redis.admin.xrevrange(ordersKey('r', 0, 1), '+', '-');
    const [first] = await redis.admin.xrange(inboxKey('r', 4, 1), '-', '+');
    expect(last[0] <= first[0]).toBe(true);
  });

  test('live for as long as their run keeps them, and what is on its way to them ends with the run', async () => {
    const rest = { version: '1', lifeMs: 5000, expireMs: 60_000, patienceMs: 2000, note: () => {} };
    const run = await RedisRun.open({ url: redis.url, run: 'r', ...rest });
    const mail = await opened(5);
    const keys = [inboxKey('r', 5, 0), inboxKey('r', 5, 1)];
    for (const key of keys) await redis.admin.pexpire(key, 5000);
    expect(await run.keep(keys)).toBe(true);
    for (const key of keys) expect(await redis.admin.pttl(key)).toBeGreaterThan(50_000);
    expect(await run.keep([...keys, inboxKey('r', 5, 7)])).toBe(false);
    await mail.settled();
    for (const ready of [true, false]) {
      const connection = run.connection();
      if (ready) await connection.ping();
      const reading = new MailReader(connection, 2000).read([ordersKey('r', 0, 9)], 500);
      new Mail(connection, options, ready ? 8 : 9).open(0, [task, task]);
      reading.catch(() => {});
    }
    await run.close();
    expect(await redis.admin.keys('epsim:run*')).toEqual([]);
    await sleep(300);
    expect(await redis.admin.keys('epsim:run*')).toEqual([]);
  });

  test('that are gone, or never were, take nothing and tell the writer so', async () => {
    const mail = await opened(3);
    await redis.admin.del(inboxKey('r', 3, 1));
    await mail.send([{ to: 1, channel: '3.rows', blocks }]);
    await expect(mail.settled()).rejects.toThrow(RunMovedOn);
    const late = new Mail(redis.admin, options, 2);
    late.say('coordinator', { late: true });
    await expect(late.settled()).rejects.toThrow(RunMovedOn);
    expect(await redis.admin.keys('epsim:run:r:in.2.*')).toEqual([]);
    expect(await redis.admin.exists(inboxKey('r', 3, 1))).toBe(0);
  });

  test('of a silent Redis are waited for no longer than they may', async () => {
    const mail = new Mail(redis.admin, { ...options, patienceMs: 200 }, 4);
    await redis.admin.client('PAUSE', 1500, 'ALL');
    mail.say('coordinator', {});
    await expect(mail.settled()).rejects.toThrow(ClusterFailure);
  });
});

test('frames of an earlier beginning, of another run, damaged ones and what comes twice are counted and refused', () => {
  const small = [{ from: 0, to: 1, bytes: new Uint8Array(50) }];
  const one = (run: string, channel: string) => [...encodeFrames(run, channel, small)][0];
  const arrivals = new Arrivals('r', new Map([['4.dispatch.0.1', 'dispatch']]));
  const honest = one('r', '4.dispatch.0.1');
  expect(arrivals.take(honest)?.from).toBe('dispatch');
  const damaged = Buffer.from(honest);
  damaged[60] ^= 1;
  const refused = [
    one('r', '3.dispatch.0.1'),
    one('q', '4.dispatch.0.1'),
    honest,
    damaged,
    Buffer.alloc(300_000),
  ];
  for (const bytes of [...refused, Buffer.from('?')]) expect(arrivals.take(bytes)).toBeNull();
  expect(arrivals.refused).toEqual({ malformed: 1, oversized: 1, damaged: 1, foreign: 2, replayed: 1 });
});

describe('a wait', () => {
  const block = (ms: number) => {
    for (const until = performance.now() + ms; performance.now() < until; );
  };

  test('does not end while its thread computes, before it has heard what came', async () => {
    for (const ms of [100, 800]) {
      await sleep(0);
      const answer = new Promise((resolve) => {
        setTimeout(() => setImmediate(() => resolve('here')), 1);
      });
      const waited = bounded(answer, ms, () => 'nothing');
      block(1000);
      expect(await waited).toBe('here');
    }
  });

  test('ends when nothing comes', async () => {
    for (const busyMs of [0, 400]) {
      const started = performance.now();
      const waited = bounded(new Promise(() => {}), 200, () => 'nothing');
      block(busyMs);
      await expect(waited).rejects.toThrow(/^nothing \(waited/);
      expect(performance.now() - started).toBeLessThan(5000);
    }
  });
});
