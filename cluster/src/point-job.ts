/** What a job of one point of a sweep says, and what its worker answers. Checked on both sides. */
import { z } from 'zod';
import { channelSchema, nameSchema } from './shard-job.js';

export const POINT_JOB = 'point';

export const pointJobSchema = z.strictObject({
  version: z.string().max(100),
  run: nameSchema,
  token: nameSchema,
  /** The scenario as resolved. */
  scenario: z.string().max(1_000_000),
  /** Files that it names. */
  files: z.array(z.strictObject({ path: z.string().max(1000), content: channelSchema })).max(100),
  expireMs: z.int().min(1000).max(1e9),
  patienceMs: z.int().min(100).max(1e9),
});
export type PointJobData = z.infer<typeof pointJobSchema>;

export const pointAnswerSchema = z.union([
  z.strictObject({
    outcome: z.literal('done'),
    /** Summary and records, as JSON. */
    result: channelSchema,
  }),
  z.strictObject({
    outcome: z.enum(['stale', 'lost', 'full', 'refused', 'failed']),
    reason: z.string(),
  }),
]);
export type PointAnswer = z.infer<typeof pointAnswerSchema>;
