import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyFolder, epsim } from '../support/epsim.js';
import { keysLeft, redisBinary, startRedis, startWorker } from '../support/redis.js';

test.skipIf(redisBinary === null)(
  'workers of a cluster give the same journey to the last byte, and leave nothing behind',
  async () => {
    const redis = await startRedis();
    const worker = await startWorker(redis);
    try {
      const runs = [[], ['--redis', redis.url]].map((args) => {
        const dir = emptyFolder();
        const { status, stderr } = epsim(['journey', '--out', dir, '--quiet', ...args]);
        expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
        return readFileSync(join(dir, 'journey.json'));
      });
      expect(runs[1].equals(runs[0])).toBe(true);
      expect(await keysLeft(redis)).toEqual([]);
    } finally {
      worker.process.kill('SIGKILL');
      await redis.close();
    }
  },
);
