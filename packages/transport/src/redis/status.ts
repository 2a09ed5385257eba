/** What a cluster does at this moment, for people and scripts. Looks and changes nothing. */
import type { Redis } from 'ioredis';
import { bounded, openRedis } from './connection.js';
import { JOB_PREFIX, LANES, laneQueue, POINTS, RUNS, runKey } from './keys.js';
import { type WorkerCard, workersPresent } from './presence.js';

export interface QueueDepth {
  readonly queue: string;
  readonly waiting: number;
  readonly active: number;
}

export interface ClusterStatus {
  readonly workers: readonly WorkerCard[];
  /** Queues that hold something. */
  readonly queues: readonly QueueDepth[];
  /** Runs that are registered; `driven` is false once their coordinator is silent. */
  readonly runs: readonly { readonly id: string; readonly driven: boolean }[];
  readonly redis: {
    readonly version: string;
    readonly usedBytes: number;
    /** Null without a limit. */
    readonly maxBytes: number | null;
    /** Bytes of our own keys. */
    readonly ownBytes: number;
  };
}

/** Throws ClusterFailure when Redis does not answer within `patienceMs`. */
export async function clusterStatus(url: string, patienceMs: number): Promise<ClusterStatus> {
  const redis = await openRedis(url, patienceMs, 'epsim-status');
  try {
    return await bounded(statusOf(redis), patienceMs, () => 'Redis does not answer');
  } finally {
    redis.disconnect();
  }
}

async function statusOf(redis: Redis): Promise<ClusterStatus> {
  const info = await redis.info();
  const field = (name: string) => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1] ?? '';
  const names = [...Array.from({ length: LANES }, (_, lane) => laneQueue(lane)), POINTS];
  const queues = await Promise.all(names.map((name) => depthOf(redis, name)));
  const ids = (await redis.smembers(RUNS)).sort();
  const driven = await Promise.all(ids.map((id) => redis.exists(runKey(id))));
  return {
    workers: await workersPresent(redis),
    queues: queues.filter(({ waiting, active }) => waiting + active > 0),
    runs: ids.map((id, i) => ({ id, driven: driven[i] === 1 })),
    redis: {
      version: field('redis_version'),
      usedBytes: Number(field('used_memory')),
      maxBytes: Number(field('maxmemory')) || null,
      ownBytes: await ownBytes(redis),
    },
  };
}

async function depthOf(redis: Redis, queue: string): Promise<QueueDepth> {
  const key = `${JOB_PREFIX}:${queue}`;
  const [waiting, active] = await Promise.all([redis.llen(`${key}:wait`), redis.llen(`${key}:active`)]);
  return { queue, waiting, active };
}

async function ownBytes(redis: Redis): Promise<number> {
  let bytes = 0;
  let cursor = '0';
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', 'epsim:*', 'COUNT', 1000);
    const sizes = await Promise.all(keys.map((key) => redis.memory('USAGE', key, 'SAMPLES', 0)));
    for (const size of sizes) bytes += size ?? 0;
    cursor = next;
  } while (cursor !== '0');
  return bytes;
}
