/**
 * A catalog with the kinds of options that registries have: none, plain, nested, unions, with units, refined.
 */
import { type Catalog, zBandwidth, zDuration } from '@epsim/spec';
import * as z from 'zod';

const none = (summary: string) => ({ summary, options: z.strictObject({}) });

export const stubCatalog: Catalog = {
  routing: {
    'top-k': none('the highest scores'),
    'sign-bias': {
      summary: 'a bias that moves by a fixed step',
      options: z.strictObject({ step: z.number().gt(0).default(0.001) }),
    },
    quantile: {
      summary: 'the bias that balances',
      options: z.strictObject({
        estimator: z.enum(['histogram', 'exact']).default('histogram'),
        bins: z.int().min(2).max(100_000).default(1000),
      }),
    },
  },
  placement: {
    contiguous: none('experts in order'),
    eplb: {
      summary: 'replicas by load',
      options: z
        .strictObject({ window: z.int().min(1).default(100), groups: z.int().min(1).optional() })
        .refine((options) => options.window % 2 === 0, { message: 'window must be even', path: ['window'] }),
    },
  },
  topology: {
    'nvlink-domain': none('switched domains'),
    'full-mesh': none('domains joined pair by pair'),
    'torus-3d': { summary: 'rings', options: z.strictObject({ dims: z.array(z.int()).length(3) }) },
    'fat-tree': {
      summary: 'leaves and spines',
      options: z.strictObject({
        uplink: zBandwidth().default(25e9),
        hop: zDuration().optional(),
        oversubscription: z.number().min(1).default(1),
      }),
    },
  },
  workload: {
    synthetic: {
      summary: 'seeded scores',
      options: z.strictObject({
        skew: z
          .discriminatedUnion('kind', [
            z.strictObject({ kind: z.literal('uniform') }),
            z.strictObject({ kind: z.literal('power-law'), alpha: z.number().min(0).default(1.01) }),
          ])
          .default({ kind: 'uniform' }),
      }),
    },
    trace: { summary: 'recorded choices', options: z.strictObject({ file: z.string() }) },
    loads: {
      summary: 'a load table',
      options: z.strictObject({ file: z.string(), noise: z.number().optional() }),
    },
  },
  networkModels: { bound: none('busiest link'), fair: none('max-min fairness') },
  overlaps: { none: none('one after another'), 'two-batch': none('two batches') },
  exchanges: { auto: none('the kernel that fits') },
};
