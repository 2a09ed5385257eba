/** The worker's entry: joins a cluster and serves until it is told to stop or Redis is gone for good. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { type Serving, serve } from '@epsim/transport/redis';
import { PHASE_JOB } from './phase-job.js';
import { PhaseWorker } from './phase-worker.js';
import { POINT_JOB } from './point-job.js';
import { PointWorker } from './point-worker.js';

export interface WorkerOptions {
  readonly url: string;
  readonly version: string;
  readonly threads: number;
  readonly lockMs: number;
  readonly patienceMs: number;
  readonly phaseMs: number;
  /** Longest time that one point of a sweep may take. */
  readonly pointMs: number;
  readonly note: (text: string) => void;
}

export interface ClusterWorker extends Serving {
  readonly id: string;
}

/** Throws ClusterFailure when Redis cannot be used or holds workers of another version. */
export async function joinCluster(options: WorkerOptions): Promise<ClusterWorker> {
  const { url, version, threads, lockMs, patienceMs, phaseMs, pointMs, note } = options;
  const id = `${hostname()
    .replace(/[^\w-]/g, '-')
    .slice(0, 40)}-${process.pid}-${randomBytes(2).toString('hex')}`;
  const phases = new PhaseWorker({ version, threads, phaseMs });
  const points = new PointWorker({ version, pointMs });
  const serving = await serve({
    ...{ url, id, version, host: hostname(), pid: process.pid, threads, lockMs, patienceMs, note },
    handle: async (name, data, redis) => {
      if (name === PHASE_JOB) return phases.handle(data, redis);
      if (name === POINT_JOB) return points.handle(data, redis);
      return { outcome: 'refused', reason: 'a kind of job that this worker does not know' };
    },
  });
  return {
    id,
    failed: serving.failed,
    close: async () => {
      await serving.close();
      await phases.close();
      await points.close();
    },
  };
}
