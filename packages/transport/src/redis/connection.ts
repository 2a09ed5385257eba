/**
 * Connections to Redis that the user named: how they are opened, what may be shown of their address, and a bound
 * on every wait. A connection that breaks is taken up again by itself; who waits for it gives up in time.
 */
import { Redis } from 'ioredis';
import { ClusterFailure } from '../failure.js';

export interface Address {
  /** The address without user and password, fit for messages and files. */
  readonly shown: string;
  readonly encrypted: boolean;
  readonly loopback: boolean;
}

/** Throws RangeError when `url` is none of redis:// and rediss://; the message repeats no password. */
export function addressOf(url: string): Address {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    throw new RangeError('not an address of Redis; write redis://[user:password@]host:port');
  }
  const { protocol, hostname, port, pathname, search, hash } = parsed;
  if ((protocol !== 'redis:' && protocol !== 'rediss:') || hostname === '') {
    throw new RangeError(
      `not an address of Redis: ${protocol}//...; write redis://[user:password@]host:port, or rediss:// with TLS`,
    );
  }
  // A password with / ? or # in it ends the host early, and the rest would be shown as a path.
  if (!/^\/?\d*$/.test(pathname) || hash !== '' || search.includes('@')) {
    throw new RangeError(
      'not an address of Redis: after the port comes the number of a database or nothing; write / ? # and @ in a password as %2F %3F %23 %40',
    );
  }
  const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/i.test(hostname);
  return {
    shown: `${protocol}//${hostname}:${port || 6379}${pathname === '/' ? '' : pathname}`,
    encrypted: protocol === 'rediss:',
    loopback,
  };
}

/** One line when passwords and rows would cross a network in the clear; otherwise null. */
export function clearTextWarning({ shown, encrypted, loopback }: Address): string | null {
  if (encrypted || loopback) return null;
  return `warning: ${shown} is another host and the connection is not encrypted; use rediss:// with TLS`;
}

/**
 * Opens a connection that Redis lists under `name`. Throws ClusterFailure when Redis does not answer within `patienceMs` or refuses us.
 * Later losses of the connection are mended without end; commands wait meanwhile, so bound them.
 */
export async function openRedis(url: string, patienceMs: number, name: string): Promise<Redis> {
  const { shown } = addressOf(url);
  const redis = new Redis(url, {
    connectionName: name,
    lazyConnect: true,
    maxRetriesPerRequest: null,
    connectTimeout: 5000,
    retryStrategy: (times) => Math.min(1000, 50 * times),
  });
  let last = 'no answer';
  redis.on('error', (error: Error) => {
    last = error.message;
  });
  try {
    await bounded(
      redis
        .connect()
        .then(() => redis.ping())
        .catch(() => redis.ping())
        // A database that is not there would silently be the first one.
        .then(() => redis.select(redis.options.db ?? 0)),
      patienceMs,
      () => last,
    );
  } catch (thrown) {
    redis.disconnect();
    throw new ClusterFailure(`${shown}: Redis cannot be used: ${helpOf(thrown, last)}`);
  }
  return redis;
}

function helpOf(thrown: unknown, last: string): string {
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  const text = why === '' ? last : why;
  if (/NOAUTH|WRONGPASS/.test(`${text} ${last}`)) {
    return 'it wants another user or password; give them as redis://user:password@host:port or in EPSIM_REDIS_URL';
  }
  return `${text}; check that it runs and can be reached (Debian: apt-get install redis-server)`;
}

/** A wait is counted in pieces of this length. */
const TICK_MS = 500;

/**
 * Waits for `promise` at most `ms`; then throws ClusterFailure with `what()`.
 * Time in which this thread computed, or its process was stopped, counts as one tick: what came meanwhile has not
 * been heard yet.
 */
export async function bounded<T>(promise: Promise<T>, ms: number, what: () => string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const tick = (left: number, last: boolean) => {
      const length = Math.min(TICK_MS, left);
      const began = performance.now();
      timer = setTimeout(() => {
        const deaf = performance.now() - began > length + TICK_MS / 5;
        if (left > length) tick(left - length, false);
        else if (deaf && !last) tick(TICK_MS, true);
        else reject(new ClusterFailure(`${what()} (waited ${Math.round(ms / 1000)} s)`));
      }, length);
    };
    tick(ms, false);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits until `promise` has ended in whatever way, at most `ms`. For farewells, which nobody depends on. */
export async function atMost(promise: Promise<unknown>, ms: number): Promise<void> {
  await bounded(promise, ms, () => '').catch(() => {});
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
