/**
 * The shape of one line of `records.jsonl`, for files that come back from disk.
 * The meaning of each field is told where the noun is defined, in spec's StepRecord.
 */
import type { StepRecord } from '@epsim/spec';
import { z } from 'zod';

const measures = z.strictObject({
  min: z.number(),
  mean: z.number(),
  max: z.number(),
  maxOverMean: z.number(),
  meanOverMax: z.number(),
  maxMinusMeanOverMean: z.number(),
  cv: z.number(),
  gini: z.number(),
  entropy: z.number(),
  zeroCount: z.int(),
});

const estimate = z.strictObject({
  ns: z.number(),
  provenance: z.enum(['measured', 'fitted', 'derived']),
  source: z.string(),
  relErrorBar: z.number().nullable(),
});

export const recordSchema = z.strictObject({
  step: z.int(),
  layer: z.int(),
  tokens: z.int(),
  paddedTokens: z.int(),
  routing: z.strictObject({
    droppedChoices: z.number(),
    scoreRetention: z.number(),
    changedChoices: z.number(),
    biasDrift: z.number(),
  }),
  expertLoad: z.array(z.number()).min(1),
  expertLoadMeasures: measures,
  maxVioFloor: z.number(),
  rankLoad: z.array(z.number()).min(1),
  rankLoadMeasures: measures,
  activatedExperts: z.array(z.number()).min(1),
  bytes: z.strictObject({
    dispatch: z.number(),
    combine: z.number(),
    scaleUp: z.number(),
    scaleOut: z.number(),
    local: z.number(),
    dedupRatio: z.number(),
    byLinkMax: z.strictObject({ link: z.string(), bytes: z.number() }),
  }),
  move: z.strictObject({ slots: z.number(), bytes: z.number(), ns: z.number() }),
  timed: z
    .strictObject({
      stepNs: z.number(),
      phases: z.record(z.string(), estimate),
      stragglerIdleFraction: z.number(),
    })
    .nullable(),
  baseline: z
    .strictObject({
      policy: z.string(),
      expertLoadMeasures: measures,
      rankLoadMeasures: measures,
      stepNs: z.number().nullable(),
    })
    .nullable(),
  carried: z
    .strictObject({
      tokens: z.int(),
      maxAbsError: z.number().nullable(),
      maxRelError: z.number().nullable(),
      receivedBytes: z.number(),
      outputHash: z.string(),
    })
    .nullable(),
}) satisfies z.ZodType<StepRecord>;
