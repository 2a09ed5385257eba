/**
 * A Redis of the tests' own: on a free port, with the project's access rules and a password made up for the day,
 * in a folder of its own. No other Redis is ever spoken to.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { emptyFolder, entry, root } from './epsim.js';

/** The server's name on this machine, or null when it has none. */
export const redisBinary: string | null =
  ['redis-server', 'valkey-server'].find((name) => spawnSync(name, ['--version']).status === 0) ?? null;

export interface TestRedis {
  readonly url: string;
  readonly port: number;
  readonly password: string;
  /** Connected as the administrator, who may see all keys. */
  readonly admin: Redis;
  /** Ends the server at once, as a power cut would. */
  kill(): Promise<void>;
  /** Starts it again on the same port and folder. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export interface TestRedisOptions {
  /** Every write reaches the disk before it is answered. */
  readonly persistent?: boolean;
  /** More arguments of the server. */
  readonly args?: readonly string[];
  readonly scheme?: 'redis' | 'rediss';
}

export async function startRedis(options: TestRedisOptions = {}): Promise<TestRedis> {
  const { persistent = false, args = [], scheme = 'redis' } = options;
  const port = await freePort();
  const dir = emptyFolder();
  const password = randomBytes(12).toString('hex');
  const rules = readFileSync(join(root, 'cluster/users.acl'), 'utf8').replace('change-me', password);
  const acl = join(dir, 'users.acl');
  writeFileSync(acl, `${rules}user admin on >${password} ~* &* +@all\n`);
  const ports = scheme === 'rediss' ? ['--port', '0', '--tls-port', String(port)] : ['--port', String(port)];
  const start = () =>
    spawn(
      redisBinary!,
      [
        ...ports,
        ...['--bind', '127.0.0.1', '--dir', dir, '--aclfile', acl, '--save', '', '--loglevel', 'warning'],
        ...(persistent ? ['--appendonly', 'yes', '--appendfsync', 'always'] : []),
        ...args,
      ],
      { stdio: 'ignore' },
    );
  let server = start();
  const admin = new Redis(port, {
    username: 'admin',
    password,
    maxRetriesPerRequest: null,
    retryStrategy: () => 50,
    ...(scheme === 'rediss' ? { tls: { rejectUnauthorized: false } } : {}),
  });
  admin.on('error', () => {});
  await admin.ping();
  return {
    url: `${scheme}://epsim:${password}@127.0.0.1:${port}`,
    port,
    password,
    admin,
    async kill() {
      server.kill('SIGKILL');
      await ended(server);
    },
    async restart() {
      server = start();
      await admin.ping();
    },
    async close() {
      admin.disconnect();
      server.kill('SIGKILL');
      await ended(server);
    },
  };
}

/** A child process of the tests, with what it wrote. */
export interface Child {
  readonly process: ChildProcess;
  stdout: string;
  stderr: string;
  readonly exit: Promise<number | null>;
}

/** `fileBlocks` bounds the files that it may write, in blocks of 512 bytes. */
export function startEpsim(args: readonly string[], env: NodeJS.ProcessEnv = {}, fileBlocks?: number): Child {
  const command = [process.execPath, entry, ...args];
  const shell = ['sh', '-c', `ulimit -f ${fileBlocks}; exec "$@"`, 'sh'];
  const [program, ...words] = fileBlocks === undefined ? command : [...shell, ...command];
  const child = spawn(program, words, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  const state: Child = { process: child, stdout: '', stderr: '', exit: ended(child) };
  child.stdout.on('data', (text) => {
    state.stdout += text;
  });
  child.stderr.on('data', (text) => {
    state.stderr += text;
  });
  return state;
}

/** A worker that has joined. A silent one loses its job after `lock` seconds. */
export async function startWorker(redis: TestRedis, args: readonly string[] = []): Promise<Child> {
  const child = startEpsim(['worker', '--lock', '1', ...args], { EPSIM_REDIS_URL: redis.url });
  await until(() => child.stderr.includes('serves'), `a worker that joins: ${child.stderr}`);
  return child;
}

export function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => child.once('exit', resolve));
}

/** Waits until `true`, at most half a minute. */
export async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let waited = 0; waited < 30_000; waited += 20) {
    if (await holds()) return;
    await sleep(20);
  }
  throw new Error(`waited in vain for ${what}`);
}

/** Keys beyond those of queues and workers that are there: what a run has left behind. */
export async function keysLeft({ admin }: TestRedis): Promise<string[]> {
  const keys = await admin.keys('*');
  return keys
    .filter((key) => !/^epsim:jobs:(lane-\d+|points):(meta|events|stalled-check|id|marker)$/.test(key))
    .filter((key) => key !== 'epsim:workers' && !key.startsWith('epsim:worker:'))
    .sort();
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}
