/**
 * Which operations of a layer run beside which: program orders, by name. A new one is a line here.
 */
import { z } from 'zod';
import type { Op } from './schedule.js';

export interface Overlap {
  readonly summary: string;
  readonly options: z.ZodType;
  readonly microBatches: number;
  readonly program: readonly Op[];
}

const op = (name: Op['name'], batch = 0, more: Omit<Op, 'name' | 'batch'> = {}): Op => ({
  name,
  batch,
  ...more,
});

export const overlaps = {
  none: {
    summary: 'one thing after another',
    options: z.strictObject({}),
    microBatches: 1,
    program: [
      op('pre'),
      op('dispatch'),
      op('experts', 0, { blocking: true }),
      op('combine', 0, { blocking: true }),
      op('shared', 0, { blocking: true }),
      op('post', 0, { blocking: true }),
    ],
  },
  'shared-experts': {
    summary: 'shared experts run on a side stream under dispatch, routed experts and combine',
    options: z.strictObject({}),
    microBatches: 1,
    program: [
      op('pre'),
      op('dispatch'),
      op('shared', 0, { side: true }),
      op('experts'),
      op('combine'),
      op('post'),
    ],
  },
  'two-micro-batches': {
    summary: 'the batch in two halves: the rows of one travel while the other computes',
    options: z.strictObject({}),
    microBatches: 2,
    program: [
      op('pre', 0),
      op('dispatch', 0),
      op('pre', 1),
      op('dispatch', 1),
      op('shared', 0),
      op('experts', 0),
      op('combine', 0),
      op('shared', 1),
      op('experts', 1),
      op('combine', 1),
      op('post', 0),
      op('post', 1),
    ],
  },
} as const satisfies Record<string, Overlap>;
