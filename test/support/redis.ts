/**
 * A Redis of the tests' own: on a free port, with the project's access rules and a password made up for the day,
 * in a folder of its own. No other Redis is ever spoken to.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { emptyFolder, entry, root } from './epsim.js';
import type { Host } from './two-hosts.js';

/** The server's name on this machine, or null when it has none. */
export const redisBinary: string | null =
  ['redis-server', 'valkey-server'].find((name) => spawnSync(name, ['--version']).status === 0) ?? null;

export interface TestRedis {
  readonly url: string;
  readonly port: number;
  /** Its host's address. */
  readonly address: string;
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
  /** Where it runs, when not here; the administrator then comes through a socket in its folder. */
  readonly host?: Host;
}

/** A command as it is given on a host. */
const onHost = (host: Host | undefined, command: readonly string[]): [string, string[]] => {
  const [program, ...args] = [...(host?.prefix ?? []), ...command];
  return [program, args];
};

export async function startRedis(options: TestRedisOptions = {}): Promise<TestRedis> {
  const { persistent = false, args = [], scheme = 'redis', host } = options;
  const port = await freePort();
  const dir = emptyFolder();
  const password = randomBytes(12).toString('hex');
  const rules = readFileSync(join(root, 'cluster/users.acl'), 'utf8').replace('change-me', password);
  const acl = join(dir, 'users.acl');
  writeFileSync(acl, `${rules}user admin on >${password} ~* &* +@all\n`);
  const ports = scheme === 'rediss' ? ['--port', '0', '--tls-port', String(port)] : ['--port', String(port)];
  const socket = join(dir, 'redis.sock');
  const addresses = ['127.0.0.1', ...(host ? [host.address] : [])];
  const start = () => {
    const command = [
      ...[redisBinary!, ...ports, '--unixsocket', socket, '--bind', ...addresses],
      ...['--dir', dir, '--aclfile', acl, '--save', '', '--loglevel', 'warning'],
      ...(persistent ? ['--appendonly', 'yes', '--appendfsync', 'always'] : []),
      ...args,
    ];
    const [program, words] = onHost(host, command);
    return spawn(program, words, { stdio: 'ignore' });
  };
  let server = start();
  const admin = new Redis({
    ...(host ? { path: socket } : { port }),
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
    address: addresses.at(-1)!,
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
export function startEpsim(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  { fileBlocks, host }: { readonly fileBlocks?: number; readonly host?: Host | undefined } = {},
): Child {
  const command = [process.execPath, entry, ...args];
  const shell = ['sh', '-c', `ulimit -f ${fileBlocks}; exec "$@"`, 'sh'];
  const [program, words] = onHost(host, fileBlocks === undefined ? command : [...shell, ...command]);
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
export async function startWorker(
  redis: TestRedis,
  args: readonly string[] = [],
  host?: Host,
): Promise<Child> {
  const url = host ? redis.url.replace('127.0.0.1', redis.address) : redis.url;
  const child = startEpsim(['worker', '--lock', '1', ...args], { EPSIM_REDIS_URL: url }, { host });
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

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}

/** Whole lines of a file, 0 when it is not there. */
export function lines(file: string): number {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0;
}
