/**
 * What a worker process does with one point of a sweep: fetches its files, runs it on a thread, sends back summary
 * and records. The thread may be busy for as long as it takes; this one goes on renewing the lock.
 */
import { randomBytes } from 'node:crypto';
import { reasonOf, type ShardPool, threadShards } from '@epsim/transport';
import { FrameStore, RunMovedOn } from '@epsim/transport/redis';
import { type PointWork, pointEntry } from '@epsim/workers';
import type { Redis } from 'ioredis';
import { type PointAnswer, type PointJobData, pointJobSchema } from './point-job.js';
import { outcomeOf } from './shard-layer.js';

export interface PointWorkerOptions {
  readonly version: string;
  /** Longest time that one point may take. */
  readonly pointMs: number;
}

export class PointWorker {
  private readonly pools = new Set<ShardPool>();

  constructor(private readonly options: PointWorkerOptions) {}

  /** Does one job of unchecked data. Never throws: what goes wrong is the answer. */
  async handle(data: unknown, redis: Redis): Promise<PointAnswer> {
    const parsed = pointJobSchema.safeParse(data);
    if (!parsed.success) return { outcome: 'refused', reason: parsed.error.issues[0].message };
    const job = parsed.data;
    if (job.version !== this.options.version) {
      const reason = `the sweep is version ${job.version}, this worker ${this.options.version}; versions do not mix`;
      return { outcome: 'refused', reason };
    }
    const { run, token, expireMs, patienceMs } = job;
    const store = new FrameStore(redis, { run, token, expireMs, patienceMs });
    try {
      await store.checkToken();
      const measured = await this.measure(job, store);
      const name = `point.${randomBytes(6).toString('hex')}`;
      const bytes = new TextEncoder().encode(JSON.stringify(measured));
      return { outcome: 'done', result: await store.put(name, [{ from: 0, to: 0, bytes }]) };
    } catch (thrown) {
      const outcome = thrown instanceof RunMovedOn ? 'stale' : outcomeOf(thrown);
      return { outcome, reason: reasonOf(thrown) };
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.pools].map((pool) => pool.close()));
  }

  /** A thread for each point: points are long, and one that fails takes no other with it. */
  private async measure(job: PointJobData, store: FrameStore): Promise<unknown> {
    const files = new Map<string, Uint8Array>();
    for (const { path, content } of job.files) {
      const parts: Buffer[] = [];
      await store.take(content, ({ bytes }) => parts.push(Buffer.from(bytes)));
      files.set(path, new Uint8Array(Buffer.concat(parts)));
    }
    const pool = threadShards({ entry: pointEntry, workers: 1, timeoutMs: this.options.pointMs });
    this.pools.add(pool);
    try {
      const args: PointWork = { scenario: job.scenario, files, version: job.version };
      const [measured] = await pool.callAll([{ shard: 0, method: 'point', args }]);
      return measured;
    } finally {
      this.pools.delete(pool);
      await pool.close();
    }
  }
}
