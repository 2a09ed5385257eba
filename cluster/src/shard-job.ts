/** What the job of a shard says, the orders it is given, and what it tells the coordinator. Checked on both sides. */
import { z } from 'zod';

export const SHARD_JOB = 'shard';

export const nameSchema = z.string().regex(/^[\w.-]{1,200}$/);
export const channelSchema = z.strictObject({
  channel: nameSchema,
  frames: z.int().min(0).max(1e7),
});
const count = z.int().min(0).max(1e9);
const shard = z.int().min(0).max(65_535);

/** A shard of a run, for as long as the ranks are shared out so. */
export const shardJobSchema = z.strictObject({
  version: z.string().max(100),
  run: nameSchema,
  /** Which sharing of the run's ranks it belongs to, from 0. */
  sharing: count,
  shard,
  /** First rank of each shard and the end. */
  bounds: z.array(z.int().min(0).max(65_536)).min(2).max(65_537),
  /** Life of what the worker writes, and its longest wait for Redis. */
  expireMs: z.int().min(1000).max(1e9),
  patienceMs: z.int().min(100).max(1e9),
});
export type ShardJobData = z.infer<typeof shardJobSchema>;

export const orderSchema = z.union([
  /** Begin a layer, whose task comes with the order in so many frames. */
  z.strictObject({ beginning: count, frames: count }),
  z.strictObject({ over: z.literal(true) }),
]);
export type Order = z.infer<typeof orderSchema>;

const refused = z.strictObject({
  malformed: z.number(),
  oversized: z.number(),
  damaged: z.number(),
  foreign: z.number(),
  replayed: z.number(),
});

/** The rows for this phase are there. */
export const progressSchema = z.strictObject({ shard, begins: z.enum(['compute', 'combine']) });
export type Progress = z.infer<typeof progressSchema>;

export const wordsSchema = z.union([
  /** The results have been sent. */
  z.strictObject({ shard, receivedBytes: z.number(), sentBytes: z.number(), refused }),
  /** lost: rows are not what they should be. full: Redis has no memory left. failed: the shard's own fault. */
  z.strictObject({
    ...{ shard, phase: z.enum(['dispatch', 'compute', 'combine']) },
    ...{ outcome: z.enum(['lost', 'full', 'failed']), reason: z.string() },
  }),
]);
export type Words = z.infer<typeof wordsSchema>;

/** The channel on which shard `from` sends rows to shard `to` on a leg. */
export function rowsChannel(beginning: number, leg: string, from: number, to: number): string {
  return `${beginning}.${leg}.${from}.${to}`;
}

/** The channel on which a shard sends its results. */
export function resultsChannel(beginning: number, from: number): string {
  return `${beginning}.results.${from}`;
}
