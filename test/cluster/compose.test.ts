/** The compose file without an engine: what it starts is started here, with its own commands, in a folder. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { emptyFolder, root } from '../support/epsim.js';
import { ended, freePort, redisBinary, until } from '../support/redis.js';

interface Service {
  readonly image: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly ports?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}
const file = join(root, 'cluster/compose.yaml');
const compose = parse(readFileSync(file, 'utf8')) as {
  readonly services: { readonly redis: Service; readonly worker: Service };
  readonly volumes: Readonly<Record<string, unknown>>;
};
const { redis, worker } = compose.services;
const password = 'Secret123';
/** As the engine reads it: variables of the host, then `$$` for `$`. */
const filled = (text: string) =>
  text.replace(/\$\{EPSIM_REDIS_PASSWORD:\?[^}]*\}/g, password).replaceAll('$$', '$');
const docker = spawnSync('docker', ['compose', 'version']).status === 0;
if (!docker) process.stderr.write('compose.yaml is not read by an engine: "docker compose" is not there\n');

describe('compose.yaml', () => {
  test('mounts what is there, publishes to this machine only, and names its volumes', () => {
    for (const volume of [...redis.volumes, ...worker.volumes]) {
      const [from] = volume.split(':');
      if (from.startsWith('.')) expect(existsSync(join(root, 'cluster', from)), volume).toBe(true);
      else expect(Object.keys(compose.volumes)).toContain(from);
    }
    for (const port of redis.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
    expect(worker.depends_on).toEqual({ redis: { condition: 'service_healthy' } });
  });

  test.skipIf(!docker)('is one that "docker compose" takes', () => {
    const env = { ...process.env, EPSIM_REDIS_PASSWORD: password };
    const { status, stderr } = spawnSync('docker', ['compose', '-f', file, 'config', '-q'], {
      env,
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  test.skipIf(redisBinary !== 'redis-server')(
    'starts a Redis that takes its own health check, and a worker that joins it',
    async () => {
      const dir = emptyFolder();
      mkdirSync(join(dir, 'data'));
      const port = await freePort();
      const here = (text: string) =>
        filled(text)
          .replaceAll('/rules/', `${join(root, 'cluster')}/`)
          .replaceAll('/data/', `${join(dir, 'data')}/`);
      const [shell, ...args] = redis.command.map(here);
      const more = ` --port ${port} --bind 127.0.0.1 --dir ${join(dir, 'data')}`;
      const own = { EPSIM_REDIS_PASSWORD: filled(redis.environment.EPSIM_REDIS_PASSWORD) };
      const server = spawn(shell, [...args.slice(0, -1), `${args.at(-1)?.trim()}${more}`], {
        env: { ...process.env, ...own },
        stdio: 'ignore',
      });
      const [, check] = (redis.healthcheck?.test ?? []).map(filled);
      const ping = check.replace('redis-cli', `redis-cli -p ${port}`);
      const healthy = () => spawnSync('sh', ['-c', ping], { env: { ...process.env, ...own } });
      let joined = '';
      const [program, ...words] = worker.command;
      const url = filled(worker.environment.EPSIM_REDIS_URL);
      expect(url).toContain(`:${password}@redis:6379`);
      let child: ReturnType<typeof spawn> | null = null;
      try {
        await until(() => healthy().stdout.toString().includes('PONG'), 'a healthy Redis');
        const env = {
          ...worker.environment,
          EPSIM_REDIS_URL: url.replace('redis:6379', `127.0.0.1:${port}`),
        };
        child = spawn(program, words, { cwd: root, env: { ...process.env, ...env } });
        child.stderr?.on('data', (text) => {
          joined += text;
        });
        await until(() => joined.includes('serves'), `a worker that joins: ${joined}`);
        expect(joined).not.toContain(password);
        child.kill('SIGTERM');
        expect(await ended(child)).toBe(0);
      } finally {
        child?.kill('SIGKILL');
        server.kill('SIGKILL');
        await ended(server);
      }
    },
  );
});
