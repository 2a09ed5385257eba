/** Removes what a run left in Redis, by its id: its own coordinator does it at the end, any worker when that died. */
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { channelKey, JOB_PREFIX, LANES, laneQueue, POINTS, RUNS, runKey, runQueue } from './keys.js';

/** Removes all keys and jobs of a run. Who has one of them in hand finds that it has lost its lock. */
export async function sweepUp(redis: Redis, run: string): Promise<void> {
  await redis.unlink(runKey(run));
  const queues = [...Array.from({ length: LANES }, (_, lane) => laneQueue(lane)), POINTS];
  await Promise.all(queues.map((queue) => removeJobs(redis, queue, run)));
  await unlinkMatching(redis, channelKey(run, '*'));
  await unlinkMatching(redis, `${JOB_PREFIX}:${runQueue(run)}:*`);
  await redis.srem(RUNS, run);
}

/** Runs whose coordinator is silent are swept up; returns their ids. */
export async function sweepUpSilentRuns(redis: Redis): Promise<string[]> {
  const swept: string[] = [];
  for (const run of await redis.smembers(RUNS)) {
    if ((await redis.exists(runKey(run))) === 1) continue;
    await sweepUp(redis, run);
    swept.push(run);
  }
  return swept;
}

async function removeJobs(redis: Redis, name: string, run: string): Promise<void> {
  const queue = new Queue(name, { connection: redis, prefix: JOB_PREFIX, skipMetasUpdate: true });
  queue.on('error', () => {});
  await queue.waitUntilReady();
  const jobs = await queue.getJobs(['waiting', 'delayed', 'prioritized', 'failed', 'completed']);
  for (const job of jobs) {
    if (job?.id?.startsWith(`${run}.`)) await job.remove().catch(() => {});
  }
  await queue.close();
  const key = `${JOB_PREFIX}:${name}`;
  const inHand = await redis.lrange(`${key}:active`, 0, -1);
  for (const id of inHand.filter((one) => one.startsWith(`${run}.`))) {
    await redis
      .multi()
      .lrem(`${key}:active`, 0, id)
      .srem(`${key}:stalled`, id)
      .unlink(`${key}:${id}`, `${key}:${id}:lock`)
      .exec();
  }
}

/** Removes all keys that match a pattern. */
export async function unlinkMatching(redis: Redis, pattern: string): Promise<void> {
  let cursor = '0';
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', pattern, 'COUNT', 1000);
    if (keys.length > 0) await redis.unlink(keys);
    cursor = next;
  } while (cursor !== '0');
}
