/** What a job of a phase says, and what its worker answers. Checked on both sides. */
import { z } from 'zod';

export const PHASE_JOB = 'phase';

export const nameSchema = z.string().regex(/^[\w.-]{1,200}$/);
export const channelSchema = z.strictObject({
  channel: nameSchema,
  frames: z.int().min(0).max(1e7),
});

export const phaseJobSchema = z.strictObject({
  version: z.string().max(100),
  run: nameSchema,
  /** The run's token when the job was made; a job of an older one is not wanted any more. */
  token: nameSchema,
  shard: z.int().min(0).max(65_535),
  phase: z.enum(['dispatch', 'compute', 'combine']),
  /** Where the task lies. */
  task: channelSchema,
  /** Rows that arrive, one channel for each shard that sends some. */
  inputs: z.array(channelSchema).max(65_536),
  /** First rank of each shard and the end. */
  bounds: z.array(z.int().min(0).max(65_536)).min(2).max(65_537),
  /** Life of what the worker writes, and its longest wait for Redis. */
  expireMs: z.int().min(1000).max(1e9),
  patienceMs: z.int().min(100).max(1e9),
});
export type PhaseJobData = z.infer<typeof phaseJobSchema>;

const refused = z.strictObject({
  malformed: z.number(),
  oversized: z.number(),
  damaged: z.number(),
  foreign: z.number(),
  replayed: z.number(),
});

export const phaseAnswerSchema = z.union([
  z.strictObject({
    outcome: z.literal('done'),
    receivedBytes: z.number(),
    /** By shard; of `combine`, one channel with the results. */
    sent: z.array(channelSchema),
    sentBytes: z.number(),
    refused,
  }),
  z.strictObject({
    /**
     * stale: the run has moved on. lost: rows were not there. full: Redis has no memory left.
     * refused: the job is none for this worker. failed: the shard's own fault.
     */
    outcome: z.enum(['stale', 'lost', 'full', 'refused', 'failed']),
    reason: z.string(),
  }),
]);
export type PhaseAnswer = z.infer<typeof phaseAnswerSchema>;
