/** The coordinator's entry: a run that is driven from here and carried by the workers of a cluster. */
import { randomBytes } from 'node:crypto';
import { RedisRun } from '@epsim/transport/redis';
import { type RedisFabric, redisFabric } from './redis-fabric.js';
import { RollCall } from './roll-call.js';

export interface CoordinatorOptions {
  readonly url: string;
  /** What the run is called; its id in Redis is this and something unique. */
  readonly name: string;
  readonly version: string;
  readonly patienceMs: number;
  readonly phaseMs: number;
  readonly note: (text: string) => void;
}

/** A coordinator that is silent for so long has left its run; others clear it away. */
export const LIFE_MS = 15_000;

/** An id of a run: its name, as far as it may stand in a key, and something unique. */
export function runId(name: string): string {
  return `${name.replace(/[^\w-]/g, '-').slice(0, 60)}-${randomBytes(4).toString('hex')}`;
}

/** Joins the cluster and waits for a worker. Throws ClusterFailure when there is none within `patienceMs`. */
export async function coordinate(options: CoordinatorOptions): Promise<RedisFabric> {
  const { name, phaseMs } = options;
  const id = runId(name);
  const run = await RedisRun.open({ ...options, run: id, lifeMs: LIFE_MS, expireMs: 4 * phaseMs });
  try {
    return redisFabric(run, new RollCall(run, await run.waitForWorkers()), options);
  } catch (thrown) {
    await run.close();
    throw thrown;
  }
}

/** Shards of the next layer: one for each thread of the workers that are there, or as many as asked. */
export function shardsFor({ rollCall }: RedisFabric, rankCount: number, asked?: number): number {
  return Math.min(rankCount, asked ?? rollCall.seats);
}
