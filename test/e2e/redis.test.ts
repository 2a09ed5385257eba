import { spawnSync } from 'node:child_process';
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
  }, 60_000);
  afterAll(async () => {
    for (const worker of workers) worker.process.kill('SIGKILL');
    await redis?.close();
  }, 60_000);

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

  test('shows its workers, their versions and what Redis holds, in words and as JSON', () => {
    const env = ['--redis', redis.url];
    const { status, stdout, stderr } = epsim(['cluster', 'status', ...env, '--json']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const found = JSON.parse(stdout);
    expect(found.workers).toHaveLength(2);
    const lanes = found.workers.flatMap((worker: { lanes: number[] }) => worker.lanes);
    expect(lanes.sort((a: number, b: number) => a - b)).toEqual(
      Array.from({ length: 16 }, (_, lane) => lane),
    );
    for (const worker of found.workers)
      expect(worker).toMatchObject({ version: found.version, doing: 'waiting' });
    expect(found.redis.usedBytes).toBeGreaterThan(found.redis.ownBytes);
    expect(found).toMatchObject({ queues: [], runs: [] });
    const words = epsim(['cluster', 'status', ...env]).stdout;
    expect(words).toMatch(/^redis \S+: .* used, no limit; .*\n2 workers\n/);
    expect(stdout + words).not.toContain(redis.password);
  });
});

describe.skipIf(redisBinary === null)('a Redis with TLS', () => {
  test('carries a run, and is not trusted without its certificate', async () => {
    const dir = emptyFolder();
    const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
    const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const made = [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '2',
      '-keyout',
      key,
      '-out',
      cert,
    ];
    expect(spawnSync('openssl', [...made, ...subject]).status).toBe(0);
    const tls = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', cert];
    const redis = await startRedis({ scheme: 'rediss', args: [...tls, '--tls-auth-clients', 'no'] });
    const trust = { NODE_EXTRA_CA_CERTS: cert, EPSIM_REDIS_URL: redis.url };
    const worker = startEpsim(['worker', '--lock', '1'], trust);
    const args = ['run', small, '--transport', 'redis', '--patience', '2'];
    try {
      const run = startEpsim([...args, '--patience', '20', '--out', join(dir, 'run')], trust);
      expect({ status: await run.exit, stderr: run.stderr }).toMatchObject({ status: 0 });
      const stranger = startEpsim([...args, '--out', join(dir, 'none')], { EPSIM_REDIS_URL: redis.url });
      expect(await stranger.exit).toBe(4);
      expect(stranger.stderr).toMatch(/self-signed certificate/);
    } finally {
      worker.process.kill('SIGKILL');
      await redis.close();
    }
  });
});
