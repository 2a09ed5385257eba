import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { workersPresent } from '@epsim/transport/redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { emptyFolder, epsim, root } from '../support/epsim.js';
import {
  type Child,
  keysLeft,
  lines,
  redisBinary,
  startEpsim,
  startRedis,
  startWorker,
  type TestRedis,
  until,
} from '../support/redis.js';
import { noDelay, noHosts, type TwoHosts, twoHosts } from '../support/two-hosts.js';

const small = join(root, 'test/e2e/small.yaml');
const steps = ['--set', 'steps=12', '--set', 'carry.steps=12'];
const noRedis = redisBinary === null ? 'no Redis server' : null;
for (const why of new Set([noHosts, noDelay])) {
  if (why !== null) process.stderr.write(`some tests of hosts are not run: ${why}\n`);
}

/** Redis, coordinator and one worker on one host, one worker on another. */
describe.skipIf((noRedis ?? noHosts) !== null)('two hosts', () => {
  let hosts: TwoHosts;
  let redis: TestRedis;
  let inline: string;
  const workers: Child[] = [];
  beforeAll(async () => {
    inline = join(emptyFolder(), 'inline');
    expect(epsim(['run', small, ...steps, '--out', inline, '--transport', 'inline']).status).toBe(0);
    hosts = await twoHosts();
    redis = await startRedis({ host: hosts.near });
    workers.push(await startWorker(redis, [], hosts.near), await startWorker(redis, [], hosts.far));
    expect(workers[1].stderr).toMatch(/warning: .*another host.*not encrypted/);
  }, 60_000);
  afterAll(async () => {
    for (const worker of workers) worker.process.kill('SIGKILL');
    await redis?.close();
    await hosts?.close();
  }, 60_000);
  const start = (dir: string) =>
    startEpsim(
      ['run', small, ...steps, '--workers', '4', '--out', dir, '--redis', redis.url],
      {},
      { host: hosts.near },
    );
  const both = async () => (await workersPresent(redis.admin)).length === 2;
  const expectSame = (dir: string) => {
    for (const file of readdirSync(inline).filter((name) => name !== 'timings.json')) {
      expect(readFileSync(join(dir, file)).equals(readFileSync(join(inline, file))), file).toBe(true);
    }
  };

  test('whose cable is pulled for longer than the lock give the same bytes, and both serve again', async () => {
    await until(both, 'two workers');
    const dir = join(emptyFolder(), 'run');
    const run = start(dir);
    await until(() => lines(join(dir, 'records.jsonl')) >= 3, `records of a run: ${run.stderr}`);
    hosts.part();
    await until(async () => !(await both()), 'a worker that is missed');
    await sleep(1500);
    hosts.join();
    expect(await run.exit).toBe(0);
    expectSame(dir);
    await until(both, 'a worker that is back');
    expect(await keysLeft(redis)).toEqual([]);
  });

  test.skipIf(noDelay !== null)('that are 50 ms apart each way give the same bytes', async () => {
    hosts.delay(50);
    await until(both, 'two workers');
    const dir = join(emptyFolder(), 'run');
    const run = start(dir);
    expect({ exit: await run.exit, stderr: run.stderr }).toEqual({ exit: 0, stderr: '' });
    expectSame(dir);
    expect(await keysLeft(redis)).toEqual([]);
  });
});
