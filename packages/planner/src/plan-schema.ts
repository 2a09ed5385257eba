/**
 * The JSON of `epsim plan`: every field with its meaning, as zod schemas.
 * One idea: a figure and its meaning live in one place; the types of the planner, the JSON schema under docs/schema
 * and the tests of real output are all made from these.
 */
import { overlaps } from '@epsim/engine';
import { z } from 'zod';
import { launchers } from './launch/index.js';

const count = z.int().min(0);
const share = z.number().min(0);
const ns = z.number().min(0);
const text = z.string();
const texts = z.array(text);
const names = <N extends string>(registry: Readonly<Record<N, unknown>>) =>
  z.enum(Object.keys(registry) as [N, ...N[]]);

const provenance = z.enum(['measured', 'fitted', 'derived']);
const overlap = names(overlaps).describe("a name in the engine's registry of overlaps");
const serving = z
  .enum(['split', 'together'])
  .describe('prefill and decode in pools of their own, or on the same ranks');

export const layoutSchema = z.strictObject({
  attentionTensor: count.describe('ranks that share the heads of one sequence'),
  attentionData: count.describe('groups of such ranks, each with sequences of its own'),
  expertRanks: count.describe(
    'ranks, or groups of expertTensor ranks, over which the experts of a layer are dealt',
  ),
  expertTensor: count.describe('ranks over which the inner size of each expert is cut'),
  pipeline: count.describe('stages that the layers are cut into'),
  redundantExperts: count.describe('slots of a layer beyond one for each expert'),
});

const pool = {
  layout: text.describe('degrees by the names that engines give them: TP2 DP32 EP64 PP2 +32'),
  degrees: layoutSchema,
  ranks: count.describe('of one instance'),
};

const fleet = z.strictObject({
  decodeInstances: count,
  prefillInstances: count,
  ranks: count,
  ratePerSec: z.number().describe('requests per second that the fleet is for'),
});

const quantiles = z.strictObject({
  p50: ns,
  p90: ns,
  p99: ns,
  asked: ns.describe('the quantile that objectives are held to; the median where none is'),
});

const load = {
  ratePerSec: z.number(),
  ttftNs: quantiles,
  tpotNs: quantiles,
  slotFraction: share.describe('decode slots in use while the fleet is neither filling nor emptying'),
};

const dominant = z
  .strictObject({
    part: text,
    share: share.describe("of the step's time"),
    relError: share,
    source: text,
  })
  .describe('the part of a step that adds most to its uncertainty');

const errorBar = z.strictObject({
  half: share.describe('half of the figures like this one lie within such a fraction'),
  nineTenths: share.describe('and nine tenths within this'),
  partsError: share.describe("errors of the step's parts, weighted by time"),
  widening: z.number().min(1).describe('how many times that of the scored systems, at least once'),
  dominant,
});

const figureBars = z
  .strictObject({
    ttftNs: share,
    tpotNs: share,
    tokensPerSecPerUser: share,
    tokensPerSecPerRank: share,
    costPerMillionTokens: share,
    rankHoursPerMillionTokens: share,
  })
  .describe('of each figure by its name: nine of ten published figures would lie within such a fraction');

const plannedLayout = z.strictObject({
  ...pool,
  feasible: z
    .boolean()
    .describe('meets every objective, under load where `simulated` is no null, else by its bounds'),
  why: text.optional().describe('what is missed, or why nothing can be loaded'),
  change: text.optional().describe('the nearest layout that is feasible'),
  serving,
  prefill: z
    .strictObject({ ...pool, chunkTokens: z.number(), instancesPerDecode: z.number() })
    .nullable()
    .describe('the pool that computes prompts; null where the same ranks do'),
  overlap: overlap.nullable(),
  sequencesPerGroup: z.number().nullable().describe('resident sequences of each attention group'),
  ttftNs: ns
    .nullable()
    .describe(
      'the asked quantile where simulated, else that of a prompt alone on an idle instance: a lower bound',
    ),
  tpotNs: ns.nullable().describe('time between tokens of one request on an instance that is full'),
  tokensPerSecPerRank: z
    .number()
    .nullable()
    .describe('output tokens over all ranks, those of prefill included'),
  tokensPerSecPerUser: z.number().nullable().describe('1e9 / tpotNs'),
  memoryBytesPerRank: z.number().nullable().describe('of the fullest rank'),
  costPerMillionTokens: z.number().nullable().describe('US dollars for output tokens; null without a price'),
  rankHoursPerMillionTokens: z.number().nullable(),
  watts: z
    .number()
    .nullable()
    .describe('rated power of the accelerators of the fleet or of one instance with its share'),
  fleet: fleet.nullable().describe('null where no rate and no users are asked'),
  relErrorBar: share
    .nullable()
    .describe('of tokensPerSecPerRank: nine of ten published figures would lie within such a fraction'),
  relErrorBars: figureBars.nullable(),
  errorFrom: text.nullable().describe('which part of a step adds most to the error bar'),
  refined: z.boolean().describe('false where only the lower bound of its time was computed'),
  simulated: z.strictObject(load).nullable().describe('under the asked load; null where only bounds speak'),
});

const frontierLayout = z.strictObject({
  layout: text,
  serving,
  sequencesPerGroup: z.number(),
  tokensPerSecPerRank: z.number(),
  tokensPerSecPerUser: z.number(),
  relErrorBar: share.nullable(),
});

const stepParts = z.strictObject({
  ...{ attention: ns, dense: ns, shared: ns, experts: ns, dispatch: ns, combine: ns },
  ...{ tensorGroups: ns, head: ns, handover: ns },
});

const bytes = z.number().min(0);
const memory = z.strictObject({
  weights: z.record(text, bytes).describe('by tensor class; experts in redundant slots apart'),
  ...{ redundantExperts: bytes, cache: bytes, recurrent: bytes, conv: bytes },
  ...{ activations: bytes, dispatchBuffers: bytes, reserve: bytes, total: bytes },
  stage: count.describe('of the fullest rank'),
  usableBytes: bytes,
});

const launch = z.strictObject({
  command: texts.describe('one argument with its value each'),
  config: texts.describe('a configuration file that the command names, line by line'),
  notes: texts.describe('what the plan has and the engine has no argument for'),
});

const launchPool = z.strictObject({
  role: z.enum(['prefill', 'decode', 'both']),
  layout: layoutSchema,
  sequencesPerGroup: z.number(),
  chunkTokens: z.number(),
  twoMicroBatches: z.boolean(),
  cacheFormat: z.enum(['bf16', 'fp8']),
  memoryFraction: z.number(),
  mostTokens: z.number(),
  expertCount: count,
  dispatch: z.enum(['per-expert', 'per-rank', 'per-node']),
});

const detail = z
  .strictObject({
    memory,
    stepNs: ns.describe('of one decode step'),
    step: stepParts.describe('ns by what they go into; overlapped parts count in full'),
    prefillStep: stepParts.nullable(),
    underLoad: z.strictObject({
      ...load,
      fleet,
      requests: count.describe('that were simulated'),
      holds: z.boolean().nullable().describe('null where objectives are not held under load'),
    }),
    errors: z
      .strictObject({ bars: figureBars, decode: errorBar, prefill: errorBar, both: errorBar })
      .describe('of the time between tokens, of that to the first, and of what both make'),
    notes: texts,
    sensitivity: z.array(
      z.strictObject({
        input: text,
        effect: z
          .number()
          .nullable()
          .describe(
            'change of tokens/s per rank for a tenth more of the input; null where it becomes infeasible',
          ),
      }),
    ),
    launch: z.array(z.strictObject({ pool: launchPool, engines: z.record(names(launchers), launch) })),
  })
  .describe('the chosen layout in full');

const miss = z.strictObject({
  objective: z.enum([
    ...['memory', 'ttft', 'tpot', 'tokensPerSecPerUser'],
    ...['costPerMillionTokens', 'watts', 'fleetRanks'],
  ] as const),
  value: z.number(),
  limit: z.number(),
  ratio: z.number().describe('how far off: above 1'),
  under: z.strictObject({ quantile: z.number(), ratePerSec: z.number() }).optional(),
});

const number = z.number().nullable();
const request = z
  .strictObject({
    requests: z.strictObject({
      ...{ inputTokens: count, outputTokens: count, spread: share, cacheHitRate: share },
      ...{ ratePerSec: number, users: number },
    }),
    objectives: z.strictObject({
      ...{ ttftNs: number, tpotNs: number, tokensPerSecPerUser: number, costPerMillionTokens: number },
      ...{ watts: number, quantile: number },
    }),
    limits: z.strictObject({ ranks: number, nodes: number, fleetRanks: number }),
    engine: z.strictObject({
      serving: z.enum(['split', 'together', 'either']),
      cacheFormat: z.enum(['bf16', 'fp8']),
      windows: z.enum(['kept', 'unified']),
      ...{ memoryFraction: share, reserveBytes: bytes, chunkTokens: count, mtpLayers: count },
      ...{ acceptedTokens: z.number(), stepOverheadNs: ns },
    }),
    training: z.strictObject({
      ...{ sequenceTokens: count, globalBatchTokens: count, microBatchSequences: count },
      optimizer: z.enum(['per-head-muon', 'muon', 'adamw']),
      recompute: z.boolean(),
    }),
    dollarsPerHour: number,
  })
  .describe('the plan section of the scenario, with every default');

export const capacityPlanSchema = z.strictObject({
  scenario: text,
  model: z.strictObject({
    ...{ name: text, paramCount: z.number(), activeParamCount: z.number(), checkpointBytes: bytes },
  }),
  cluster: z.strictObject({ name: text, device: text, mostRanks: count.describe('of one instance') }),
  request,
  feasible: z.boolean(),
  layouts: z.array(plannedLayout).describe('best first; where nothing is feasible, the closest first'),
  frontier: z
    .array(frontierLayout)
    .describe('feasible points of speed and throughput that nothing beats in both, slow ones first'),
  points: z.array(frontierLayout).describe('some of the other feasible points'),
  best: detail.nullable(),
  compared: z
    .array(
      z.strictObject({
        layout: text,
        memory: z.record(text, bytes).describe('of the fullest rank by what they are for, the largest first'),
        step: z
          .record(text, z.strictObject({ ns, provenance }))
          .describe('parts of a decode step, with where their times come from'),
      }),
    )
    .describe('the best layouts side by side; empty where nothing is feasible'),
  fleetByRate: z
    .array(z.strictObject({ requestsPerSec: z.number(), rankCount: count }))
    .describe('ranks of the best layout at other rates, by mean loads; empty where nothing is feasible'),
  closest: z
    .strictObject({ layout: text, misses: z.array(miss), allow: texts })
    .nullable()
    .describe('where nothing is feasible: what the closest layout misses, and what would have to be allowed'),
  searched: z.strictObject({ candidates: count, refused: count, timed: count, refined: count }),
  assumptions: texts,
  sources: z.record(text, text).describe('where each figure and part comes from'),
});

const trainingLayout = z.strictObject({
  ...pool,
  feasible: z.boolean(),
  why: text.optional(),
  replicas: z.number().describe('instances of the layout that the cluster holds and that share the batch'),
  overlap: overlap.nullable(),
  microBatches: number,
  stepNs: ns.nullable(),
  phases: z
    .strictObject({ forward: ns, backward: ns, bubble: ns, gradients: ns, optimizer: ns })
    .nullable()
    .describe('of one step'),
  bubbleFraction: share
    .nullable()
    .describe(
      "share of the pipeline's time in which a stage waits for its first or after its last micro-batch",
    ),
  tokensPerSecPerRank: number,
  modelFlopsFraction: share.nullable().describe('useful FLOPs (6 a parameter and token) over the BF16 peak'),
  relErrorBar: share
    .nullable()
    .describe(
      "of tokens/s per rank, twice as wide as a serving step's would be: no training step was scored",
    ),
  errorFrom: text.nullable().describe('which part of a forward pass adds most to it'),
  memoryBytesPerRank: bytes,
  memory: z.strictObject({
    ...{
      weights: bytes,
      gradients: bytes,
      optimizer: bytes,
      activations: bytes,
      reserve: bytes,
      total: bytes,
    },
  }),
});

export const trainingPlanSchema = z.strictObject({
  scenario: text,
  phase: z.literal('train'),
  model: z.strictObject({ name: text, activeParamCount: z.number() }),
  cluster: z.strictObject({ name: text, device: text, ranks: count }),
  request,
  feasible: z.boolean(),
  layouts: z.array(trainingLayout).describe('best first, then those that fell out'),
  assumptions: texts,
});

/** What `epsim plan --json` prints: layouts to serve with, or with `phase: train` to train with. */
export const planSchema = z.union([capacityPlanSchema, trainingPlanSchema]);

/** A type that nobody writes to, however deep. */
type Frozen<T> = T extends (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T;

export type CapacityPlan = Frozen<z.infer<typeof capacityPlanSchema>>;
export type PlannedLayout = Frozen<z.infer<typeof plannedLayout>>;
export type FrontierLayout = Frozen<z.infer<typeof frontierLayout>>;
export type PlanDetail = Frozen<z.infer<typeof detail>>;
export type TrainingPlan = Frozen<z.infer<typeof trainingPlanSchema>>;
export type TrainingLayout = Frozen<z.infer<typeof trainingLayout>>;
export type TrainingPhases = NonNullable<TrainingLayout['phases']>;
