/**
 * The JSON of `epsim validate`: how far predictions were from published figures, table by table.
 * Knows nothing of how anything was predicted.
 */
import { z } from 'zod';

const error = z.number().nullable();
const count = z.int().min(0);

const scoredRow = z.strictObject({
  label: z.string(),
  profile: z.string(),
  measured: z.number().describe('nanoseconds, or bytes per second where only a bandwidth was published'),
  predicted: z.number(),
  error: z.number().describe('predicted / measured - 1'),
});

const scores = {
  file: z.string(),
  rows: count.describe('lines of the table with at least one prediction'),
  skippedRows: count,
  medianError: error.describe('of |predicted / measured - 1|'),
  p90Error: error,
  bias: error.describe('median of predicted / measured - 1'),
  leaveGroupOutMedianError: error.describe('over rows predicted by a fit that did not see their group'),
};

const kernelTable = z.strictObject({
  ...scores,
  predictions: count.describe('measured values that were scored; a line may hold several'),
  skipped: z.array(z.strictObject({ reason: z.string(), values: count })),
  leaveOut: z
    .array(z.strictObject({ by: z.string(), predictions: count, medianError: z.number() }))
    .describe('a line per kind of groups that was left out'),
  repeats: z
    .strictObject({ cases: count, medianSpread: z.number() })
    .nullable()
    .describe('how far measurements of one case lie apart, where a table repeats some'),
  worstRows: z.array(scoredRow),
  profiles: z.array(
    z.strictObject({
      ...{ profile: z.string(), predictions: count, medianError: error, leaveGroupOutMedianError: error },
      ...{ groupedBy: z.string().nullable(), borrowedFrom: z.string().nullable() },
    }),
  ),
});

const phase = z.enum(['prefill', 'decode']);
const endToEnd = z.strictObject({
  rows: z.array(
    z.strictObject({
      ...{ source: z.string(), name: z.string(), phase, ranks: count },
      published: z.number().describe('tokens per second and rank'),
      predicted: z.number(),
      error: z.number().describe('predicted / published - 1'),
      leaveOutError: z
        .number()
        .describe("the same with the row's source left out of the fit of the phase's share"),
      partsError: z.number().describe("errors of the step's parts, weighted by time"),
      assumed: z.array(z.string()).describe('what the source is silent on'),
    }),
  ),
  ...{ medianError: z.number(), p90Error: z.number(), bias: z.number() },
  medianErrorByPhase: z.strictObject({ prefill: z.number(), decode: z.number() }),
  leaveSourceOutMedianError: z.number(),
  fittedShares: z
    .strictObject({ prefill: z.number(), decode: z.number() })
    .describe('share of a step that modelled kernels are, as all rows fit it'),
});

export const validationSchema = z.strictObject({
  tables: z.array(z.union([kernelTable, z.strictObject(scores)])),
  endToEnd: endToEnd.optional().describe('with --end-to-end: every published serving figure'),
});

type Frozen<T> = T extends (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T;

export type Validation = Frozen<z.infer<typeof validationSchema>>;
