import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { emptyFolder, epsim, root } from '../support/epsim.js';
import {
  type Child,
  keysLeft,
  redisBinary,
  startEpsim,
  startRedis,
  startWorker,
  type TestRedis,
} from '../support/redis.js';

const small = join(root, 'test/e2e/small.yaml');

describe.skipIf(redisBinary === null)('a run that is carried by the workers of a cluster', () => {
  let redis: TestRedis;
  const workers: Child[] = [];
  beforeAll(async () => {
    redis = await startRedis();
    workers.push(await startWorker(redis), await startWorker(redis));
  });
  afterAll(async () => {
    for (const worker of workers) worker.process.kill('SIGKILL');
    await redis?.close();
  });

  test('writes the same bytes as inline, and leaves nothing in Redis', async () => {
    const folder = emptyFolder();
    const inline = join(folder, 'inline');
    expect(epsim(['run', small, '--out', inline, '--transport', 'inline']).status).toBe(0);
    const over = join(folder, 'redis');
    const run = startEpsim(['run', small, '--out', over, '--redis', redis.url]);
    expect({ status: await run.exit, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
    const files = readdirSync(inline).filter((file) => file !== 'timings.json');
    for (const file of files) {
      expect(readFileSync(join(over, file)).equals(readFileSync(join(inline, file))), file).toBe(true);
    }
    expect(await keysLeft(redis)).toEqual([]);
  });
});
