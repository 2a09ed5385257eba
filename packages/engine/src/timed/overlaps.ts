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

/** All parts leave first, as the network takes them; then each computes when its rows are there, and returns. */
function pipelined(parts: number): Op[] {
  const each = (ops: (batch: number) => Op[]) =>
    Array.from({ length: parts }, (_, batch) => ops(batch)).flat();
  return [
    ...each((batch) => [op('pre', batch), op('dispatch', batch)]),
    ...each((batch) => [op('shared', batch), op('experts', batch), op('combine', batch)]),
    ...each((batch) => [op('post', batch)]),
  ];
}

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
    summary: 'shared experts compute while rows travel out',
    options: z.strictObject({}),
    microBatches: 1,
    program: [op('pre'), op('dispatch'), op('shared'), op('experts'), op('combine'), op('post')],
  },
  'two-micro-batches': {
    summary: 'the batch in two halves: the rows of one travel while the other computes',
    options: z.strictObject({}),
    microBatches: 2,
    program: pipelined(2),
  },
  'four-chunks': {
    summary: 'the batch in four parts, each travelling while the one before computes',
    options: z.strictObject({}),
    microBatches: 4,
    program: pipelined(4),
  },
} as const satisfies Record<string, Overlap>;
