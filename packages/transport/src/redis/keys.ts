/**
 * What every key in Redis is called. All of ours start with `epsim:`, so one access rule covers them, and all of
 * a run's carry its id, so that they can be found and removed when its coordinator is gone.
 */

/** Queues that jobs of shards are dealt to; shard s has lane s mod LANES. At most so many workers serve one run at a time. */
export const LANES = 16;

/** Prefix of BullMQ's own keys. */
export const JOB_PREFIX = 'epsim:jobs';

export const laneQueue = (shard: number): string => `lane-${shard % LANES}`;
/** The queue of whole points of a sweep; any worker takes any of them. */
export const POINTS = 'points';
/** The queue of barriers of one run; only its coordinator listens. */
export const runQueue = (run: string): string => `run-${run}`;

/** Ids of runs that have not been cleared away. */
export const RUNS = 'epsim:runs';
/** Holds the token of the coordinator that drives the run; expires when that coordinator is silent. */
export const runKey = (run: string): string => `epsim:run:${run}`;
/** A list of frames of a run. */
export const channelKey = (run: string, channel: string): string => `epsim:run:${run}:${channel}`;

/** The stream that holds the last order to a shard of one sharing of a run's ranks. */
export const ordersKey = (run: string, sharing: number, shard: number): string =>
  channelKey(run, `orders.${sharing}.${shard}`);
/** The stream of what arrives for one shard, or for the coordinator, in one beginning of one layer. */
export const inboxKey = (run: string, beginning: number, owner: Owner): string =>
  channelKey(run, `in.${beginning}.${owner}`);
/** Whose an inbox is: a shard's, or the coordinator's; it reads `progress` only when nothing comes for long. */
export type Owner = number | 'coordinator' | 'progress';
/** All inboxes of a beginning. */
export function inboxesOf(run: string, beginning: number, shardCount: number): string[] {
  const owners: Owner[] = ['coordinator', 'progress', ...Array(shardCount).keys()];
  return owners.map((owner) => inboxKey(run, beginning, owner));
}

/** Ids of workers that have joined; those whose card has expired are gone. */
export const WORKERS = 'epsim:workers';
export const workerKey = (id: string): string => `epsim:worker:${id}`;
