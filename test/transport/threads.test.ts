import { spawnSync } from 'node:child_process';
import { inlineShards, TransportError, threadShards } from '@epsim/transport';
import { describe, expect, test } from 'vitest';

const entry = new URL('./misbehaving-shard.mjs', import.meta.url);
const twoThreads = () => threadShards({ entry, workers: 2, timeoutMs: 1500 });
const call = (shard: number, method: string, args: unknown = null) => ({ shard, method, args });

describe('a pool of threads', () => {
  test('answers in the order of the calls', async () => {
    const pool = twoThreads();
    const answers = await pool.callAll([
      call(0, 'answer', 'a'),
      call(1, 'answer', 'b'),
      call(2, 'answer', 'c'),
    ]);
    expect(answers).toEqual(['a', 'b', 'c']);
    await pool.close();
  });

  test.each([
    ['throw', /shard 1 failed in throw: out of cheese/],
    ['die', /shard 1 failed in die: .*exit/i],
    ['spin', /shard 1 failed in spin: no answer within 1500 ms/],
    ['hang', /shard 1 failed in hang: no answer within 1500 ms/],
  ])('says which shard failed when one is told to %s', async (method, message) => {
    const pool = twoThreads();
    const started = performance.now();
    const calls = [call(0, 'answer'), call(1, method)];
    const failure = await pool.callAll(calls).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(failure).toBeInstanceOf(TransportError);
    expect((failure as TransportError).shard).toBe(1);
    expect(String((failure as Error).message)).toMatch(message);
    // Not a speed test: a bound on how long a failure may take to be told.
    expect(performance.now() - started).toBeLessThan(20_000);
    await expect(pool.callAll([call(0, 'answer')])).rejects.toThrow('the pool is closed');
  });

  test('lets the process end by itself after a shard has hung', () => {
    const script = `
      import { threadShards } from '@epsim/transport';
      const pool = threadShards({ entry: new URL(${JSON.stringify(entry.href)}), workers: 2, timeoutMs: 500 });
      await pool.callAll([{ shard: 0, method: 'spin', args: null }]).catch((e) => console.log(e.message));`;
    const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      timeout: 30_000,
      encoding: 'utf8',
    });
    expect({ stdout, status }).toEqual({
      stdout: 'shard 0 failed in spin: no answer within 500 ms\n',
      status: 0,
    });
  });
});

describe('an inline pool', () => {
  test('says which shard failed', async () => {
    const pool = inlineShards(() => {
      throw new Error('no');
    });
    await expect(pool.callAll([call(7, 'x')])).rejects.toThrow('shard 7 failed in x: no');
  });
});
