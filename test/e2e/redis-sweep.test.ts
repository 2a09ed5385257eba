import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { watchCommands } from '../support/cluster.js';
import { emptyFolder, epsim, root } from '../support/epsim.js';
import {
  type Child,
  keysLeft,
  redisBinary,
  startEpsim,
  startRedis,
  startWorker,
  type TestRedis,
  until,
} from '../support/redis.js';

const small = join(root, 'test/e2e/small.yaml');
const vary = ['--vary', 'routing.policy=top-k,quantile', '--vary', 'workload.tokensPerRank=12,24'];

describe.skipIf(redisBinary === null)('a sweep over a cluster', () => {
  let redis: TestRedis;
  const workers: Child[] = [];
  const workerOf = (pid: number) => workers.find((worker) => worker.process.pid === pid);
  beforeAll(async () => {
    redis = await startRedis({ persistent: true });
    workers.push(...(await Promise.all([startWorker(redis), startWorker(redis)])));
  }, 60_000);
  afterAll(async () => {
    for (const worker of workers) worker.process.kill('SIGKILL');
    await redis.close();
  }, 60_000);
  const points = (dir: string) =>
    readFileSync(join(dir, 'points.jsonl'), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));

  test('gives each point once and as here, though points outlast locks, a worker dies and Redis stops', async () => {
    const folder = emptyFolder();
    // Some seconds of pure arithmetic for a point, and locks of one second.
    const sweep = ['sweep', small, ...vary, '--set', 'steps=500', '--out'];
    const there = startEpsim([...sweep, join(folder, 'there'), '--redis', redis.url]);
    let victim = 0;
    const stop = await watchCommands(redis, ([name, key], pid) => {
      if (victim === 0 && name === 'get' && key.startsWith('epsim:run:')) victim = pid;
    });
    await until(() => victim !== 0, `a point in hand: ${there.stderr}`);
    stop();
    await sleep(500);
    workerOf(victim)?.process.kill('SIGKILL');
    workers.push(await startWorker(redis));
    await redis.kill();
    await sleep(1500);
    await redis.restart();
    const here = epsim([...sweep, join(folder, 'here')]);
    expect(here.status).toBe(0);
    expect({ exit: await there.exit, stderr: there.stderr }).toEqual({ exit: 0, stderr: '' });
    for (const file of ['sweep.csv', 'sweep.json']) {
      expect(readFileSync(join(folder, 'there', file), 'utf8')).toBe(
        readFileSync(join(folder, 'here', file), 'utf8'),
      );
    }
    const byKey = (a: { key: string }, b: { key: string }) => (a.key < b.key ? -1 : 1);
    expect(points(join(folder, 'there')).sort(byKey)).toEqual(points(join(folder, 'here')).sort(byKey));
    expect(await keysLeft(redis)).toEqual([]);
  }, 120_000);

  test('that is interrupted goes on where it was, and a comparison is the one that is made here', async () => {
    const dir = join(emptyFolder(), 'sweep');
    const sweep = ['sweep', small, ...vary, '--set', 'steps=200', '--out', dir, '--redis', redis.url];
    const first = startEpsim(sweep);
    await until(() => first.stderr !== '' || lines(dir) > 0, 'a first point');
    first.process.kill('SIGINT');
    expect(await first.exit).toBe(130);
    expect(first.stderr).toMatch(/interrupted: [1-3] of 4 points are finished and kept/);
    const before = points(dir);
    const second = startEpsim(sweep);
    expect({ exit: await second.exit, stderr: second.stderr }).toEqual({ exit: 0, stderr: '' });
    expect(points(dir).slice(0, before.length)).toEqual(before);
    expect(new Set(points(dir).map(({ key }) => key)).size).toBe(4);
    const compare = ['compare', small, '--vary', 'routing.policy=top-k,quantile', '--seeds', '2', '--json'];
    expect(epsim([...compare, '--redis', redis.url]).stdout).toBe(epsim(compare).stdout);
    expect(await keysLeft(redis)).toEqual([]);
  });

  function lines(dir: string): number {
    try {
      return points(dir).length;
    } catch {
      return 0;
    }
  }
});
