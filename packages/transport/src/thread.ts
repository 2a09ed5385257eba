/**
 * Shards served by a pool of worker threads. Any thread may serve any shard: a shard's memory is shared and
 * outlives the thread, so a call says all that a thread needs to know.
 * Every wait has a bound, and a failure ends the pool, so that nothing is left running.
 */
import { Piscina } from 'piscina';
import { reasonOf, type ShardCall, type ShardPool, TransportError } from './shards.js';

export interface ThreadOptions {
  /** Module whose `default` export handles a ShardCall on a thread. */
  readonly entry: URL;
  readonly workers: number;
  /** Longest time one call may take. */
  readonly timeoutMs: number;
}

export function threadShards({ entry, workers, timeoutMs }: ThreadOptions): ShardPool {
  const pool = new Piscina({
    filename: entry.href,
    minThreads: workers,
    maxThreads: workers,
    // An idle thread waits for its next phase; there are many phases in a second.
    idleTimeout: Number.POSITIVE_INFINITY,
    // The pool's tasks are long and few: sleeping on the event loop costs nothing and starves nobody.
    atomics: 'disabled',
  });
  let closed = false;
  const close = async () => {
    closed = true;
    await pool.destroy();
  };
  return {
    name: 'thread',
    async callAll(calls) {
      if (closed && calls.length > 0)
        throw new TransportError(calls[0].shard, calls[0].method, 'the pool is closed');
      const abort = new AbortController();
      const timer = setTimeout(() => abort.abort(), timeoutMs);
      const run = async (call: ShardCall) => {
        try {
          return await pool.run(call, { signal: abort.signal });
        } catch (thrown) {
          const late = abort.signal.aborted && reasonOf(thrown).includes('abort');
          throw new TransportError(
            call.shard,
            call.method,
            late ? `no answer within ${timeoutMs} ms` : reasonOf(thrown),
          );
        }
      };
      try {
        return await Promise.all(calls.map(run));
      } catch (thrown) {
        abort.abort();
        await close();
        throw thrown;
      } finally {
        clearTimeout(timer);
      }
    },
    close,
  };
}

/** Threads for tasks that wait more than they compute: many share a thread, each as long as it takes. */
export interface TaskThreads {
  /** Runs one task on the least busy thread. */
  run(task: unknown): Promise<unknown>;
  /** Ends the threads, and the tasks on them with an error. */
  close(): Promise<void>;
}

/** `entry` is a module whose `default` export does one task; all threads start at once. */
export function taskThreads(entry: URL, threads: number): TaskThreads {
  const pool = new Piscina({
    filename: entry.href,
    minThreads: threads,
    maxThreads: threads,
    concurrentTasksPerWorker: 10_000,
    idleTimeout: Number.POSITIVE_INFINITY,
    atomics: 'disabled',
  });
  return { run: (task) => pool.run(task), close: () => pool.destroy() };
}
