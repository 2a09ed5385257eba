/** The worker's entry: joins a cluster and serves until it is told to stop or Redis is gone for good. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { type Serving, serve } from '@epsim/transport/redis';
import { POINT_JOB } from './point-job.js';
import { PointWorker } from './point-worker.js';
import { SHARD_JOB } from './shard-job.js';
import { ShardWorker } from './shard-worker.js';

export interface WorkerOptions {
  readonly url: string;
  readonly version: string;
  readonly threads: number;
  readonly lockMs: number;
  readonly patienceMs: number;
  /** Longest time that one point of a sweep may take. */
  readonly pointMs: number;
  readonly note: (text: string) => void;
}

export interface ClusterWorker extends Serving {
  readonly id: string;
}

/** Throws ClusterFailure when Redis cannot be used or holds workers of another version. */
export async function joinCluster(options: WorkerOptions): Promise<ClusterWorker> {
  const { url, version, threads, lockMs, patienceMs, pointMs, note } = options;
  const id = `${hostname()
    .replace(/[^\w-]/g, '-')
    .slice(0, 40)}-${process.pid}-${randomBytes(2).toString('hex')}`;
  const shards = new ShardWorker({ url, version, threads, name: id });
  const points = new PointWorker({ version, pointMs });
  const serving = await serve({
    ...{ url, id, version, host: hostname(), pid: process.pid, threads, lockMs, patienceMs, note },
    handle: async (name, data, redis, hold) => {
      if (name === SHARD_JOB) return shards.handle(data, hold);
      if (name === POINT_JOB) return points.handle(data, redis);
      return { outcome: 'refused', reason: 'a kind of job that this worker does not know' };
    },
  });
  shards.start();
  return {
    id,
    failed: serving.failed,
    close: async () => {
      await serving.close();
      await shards.close();
      await points.close();
    },
  };
}
