/**
 * What may be written in a scenario: one schema for each field, with its default and its limits.
 * The reader checks with them and the published JSON schema is generated from them, so the two cannot disagree.
 * Upper limits are far above any real system; they exist so that a typing error cannot ask for terabytes.
 */
import * as z from 'zod';
import { type Catalog, inputSchema, type JsonSchema, type Registry } from './catalog.js';
import { MOST_LAYERS, MOST_RANKS } from './limits.js';
import { modelDocument } from './model-document.js';
import { precisions } from './precision.js';
import { clusterPresets } from './presets/clusters/registry.js';
import { devicePresets } from './presets/devices/registry.js';
import { modelPresets } from './presets/models/registry.js';
import { zBandwidth, zBytes, zDollarsPerHour, zDuration, zFlops, zWatts } from './quantity.js';
import { kernelFit } from './scenario-fits.js';
import { planJsonSchema } from './scenario-plan.js';
import { varyJsonSchema } from './scenario-vary.js';

const count = (max: number) => z.int().min(1).max(max);
const formats = ['bf16', 'fp32', 'fp8', 'mxfp8', 'mxfp4'] as const;

/** Fields at the top that are single values. */
export const rootFields = {
  name: z
    .string()
    .min(1)
    .max(200)
    .regex(/^(?!\.{1,2}$)[^/\\\n\r\t]+$/, 'write a name without slashes; runs are stored under it')
    .optional()
    .describe('shown in results; the name of the file unless said'),
  seed: z.int().min(0).default(0).describe('the same seed gives the same bytes in every output file'),
  phase: z.enum(['prefill', 'decode', 'train']).default('decode'),
  steps: count(1_000_000).default(1),
  layers: count(MOST_LAYERS).default(1).describe('layers of experts that are simulated'),
};

export const workloadFields = {
  tokensPerRank: count(1_048_576).default(128).describe('tokens of each rank in a step'),
};

export const routingFields = {
  baseline: z
    .string()
    .nullable()
    .optional()
    .describe('a second policy that routes the same tokens; top-k unless said, null for none'),
};

export const placementFields = {
  slotsPerRank: z
    .union([count(65_536), z.array(z.int().min(0).max(65_536)).min(1)])
    .nullable()
    .default(null)
    .describe('the same for all, or one number for each rank; null takes the least legal number'),
  slots: count(1_000_000)
    .nullable()
    .default(null)
    .describe('slots of all ranks, dealt out evenly; or slotsPerRank'),
  everySteps: z.int().min(0).max(1_000_000).default(0).describe('steps between placements; 0 places once'),
  windowSteps: count(1_000_000)
    .nullable()
    .default(null)
    .describe('steps whose loads a placement is made from; null takes everySteps'),
  staleSteps: z.int().min(0).max(1_000_000).default(0).describe('steps by which those loads are old'),
  move: z
    .enum(['blocking', 'background'])
    .default('blocking')
    .describe(
      'whether steps wait for a move, or it runs beside them and holds up the exchanges that it meets',
    ),
};

export const dispatchFields = {
  kind: z
    .enum(['per-expert', 'per-rank', 'per-node', 'balanced'])
    .default('per-rank')
    .describe(
      'a row for each choice; once for each rank; once for each node, forwarded inside it; balanced: per rank, with the placement policy balanced',
    ),
  dispatchFormat: z.enum(formats).default('fp8'),
  combineFormat: z.enum(formats).default('bf16'),
  replica: z.enum(['round-robin', 'nearest']).default('round-robin'),
};

export const carryFields = {
  tokensPerRank: count(65_536).optional().describe('tokens of each rank; those of the workload, at most 64'),
  expertInnerSize: count(65_536)
    .multipleOf(8)
    .optional()
    .describe("scaled inner size of the experts; 64, or the model's own where that is smaller"),
  workers: count(256).default(2),
  steps: count(1_000_000).default(1).describe('how many of the last steps are carried'),
  checkSteps: z
    .int()
    .min(0)
    .optional()
    .describe(
      'how many of the last steps are compared with the reference, which one process computes; all that are carried',
    ),
  rows: z.enum(['fp32', 'wire']).default('fp32'),
  transport: z.enum(['inline', 'thread', 'redis']).default('thread'),
};

const zPrecision = z.union([
  z.enum(Object.keys(precisions) as (keyof typeof precisions)[]),
  z.strictObject({
    name: z.enum(Object.keys(precisions) as (keyof typeof precisions)[]),
    bits: count(64),
    groupSize: z.int().min(0).max(1_048_576),
    scaleBits: z.int().min(0).max(64),
  }),
]);

/** Sizes of a model that a scenario may change. */
export const modelChanges = {
  expertCount: count(65_536).optional(),
  topK: count(1024).optional(),
  expertWidth: count(131_072).optional(),
  expertInnerSize: count(1_048_576).optional(),
  latent: z.boolean().optional().describe('false sends rows at full hidden width'),
  sharedExpertCount: z.int().min(0).max(64).optional(),
  sharedInnerSize: z.int().min(0).max(1_048_576).optional(),
  scoring: z.enum(['sigmoid', 'softmax', 'softmax-over-top-k', 'sqrt-softplus']).optional(),
  renormalize: z.boolean().optional(),
  routedScaling: z.number().gt(0).max(1000).optional(),
  groupCount: count(65_536).optional(),
  topGroupCount: count(65_536).optional(),
  contextTokens: count(1_000_000_000).optional(),
  precision: z.strictObject({ routedExperts: zPrecision.optional(), rest: zPrecision.optional() }).optional(),
};

/** Where a model's sizes come from; one of them. */
export const modelOrigins = {
  preset: z.string().optional(),
  config: z.string().optional().describe('path to a Hugging Face config.json'),
  shape: modelDocument.optional().describe('every size spelled out'),
};

const zFraction = z.number().gt(0).max(1);

export const linkFields = {
  bandwidth: zBandwidth().optional().describe('nominal, one direction, of one rank'),
  latency: zDuration().optional(),
  achieved: z
    .union([
      zFraction,
      z.strictObject({
        fraction: zFraction,
        source: z.string(),
        provenance: z.enum(['measured', 'fitted', 'derived']),
      }),
    ])
    .optional()
    .describe('fraction of the nominal rate that all-to-all kernels reach'),
  source: z.string().optional(),
};

export const deviceFields = {
  preset: z.string().optional(),
  name: z.string().optional(),
  memory: zBytes().optional(),
  memoryBandwidth: zBandwidth().optional(),
  bf16: zFlops().optional().describe('dense peak'),
  fp8: zFlops().optional(),
  fp4: zFlops().optional(),
  power: zWatts().optional(),
  smCount: count(100_000).optional(),
  source: z.string().optional(),
};

const factor = z.number().min(0).max(10).optional();

export const clusterFields = {
  preset: z.string().optional(),
  name: z.string().optional(),
  source: z.string().optional(),
  ranks: count(MOST_RANKS).optional(),
  domainRanks: count(MOST_RANKS).optional().describe('ranks that one scale-up fabric joins'),
  overrides: z
    .array(
      z.strictObject({
        rank: z.int().min(0).max(MOST_RANKS),
        speed: z.number().gt(0).max(10).optional(),
        nic: factor,
        scaleUp: factor,
      }),
    )
    .max(MOST_RANKS)
    .default([])
    .describe('ranks that are slow, or whose links are'),
  dollarsPerHour: z
    .union([z.number().min(0), zDollarsPerHour()])
    .optional()
    .describe('of one accelerator'),
};

/**
 * JSON schema (draft 2020-12) of a scenario file, with the options of every entry of the catalog.
 * For editors: what it accepts may still be refused for what no schema says, such as too few slots.
 */
export function scenarioJsonSchema(catalog: Catalog): JsonSchema {
  const root = inputSchema(z.strictObject(rootFields));
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'epsim scenario',
    ...root,
    properties: {
      ...root.properties,
      model: modelSchema(),
      cluster: clusterSchema(catalog),
      workload: {
        anyOf: [
          ...choiceSchema(catalog.workload, 'kind', workloadFields).anyOf,
          shorthandSchema('trace'),
          shorthandSchema('loads'),
        ],
      },
      routing: choiceSchema(catalog.routing, 'policy', routingFields),
      placement: choiceSchema(catalog.placement, 'policy', placementFields),
      dispatch: inputSchema(z.strictObject(dispatchFields)),
      time: {
        type: 'object',
        properties: {
          network: named(catalog.networkModels),
          overlap: { anyOf: [named(catalog.overlaps), { enum: [null] }] },
          exchange: named(catalog.exchanges),
        },
        additionalProperties: false,
      },
      carry: { anyOf: [inputSchema(z.strictObject(carryFields)), { enum: [null, false] }] },
      plan: planJsonSchema(),
      vary: varyJsonSchema(),
    },
    required: ['model', 'cluster'],
  };
}

function named(registry: Registry): JsonSchema {
  const names = Object.entries(registry).map(([name, { summary }]) => ({
    const: name,
    description: summary,
  }));
  return { anyOf: names };
}

function choiceSchema(registry: Registry, key: string, beside: z.ZodRawShape) {
  const fields = inputSchema(z.strictObject(beside)).properties;
  const anyOf = Object.entries(registry).map(([name, { summary, options }]): JsonSchema => {
    const own = inputSchema(options);
    return {
      ...own,
      description: summary,
      properties: { ...own.properties, ...fields, [key]: { const: name } },
    };
  });
  return { anyOf };
}

function shorthandSchema(kind: string): JsonSchema {
  return { type: 'object', properties: { [kind]: { type: 'string' } }, required: [kind] };
}

function modelSchema(): JsonSchema {
  const object = inputSchema(z.strictObject({ ...modelOrigins, ...modelChanges }));
  const preset = { enum: Object.keys(modelPresets) };
  return {
    anyOf: [
      preset,
      { type: 'string', description: 'path to a Hugging Face config.json' },
      { ...object, properties: { ...object.properties, preset } },
    ],
  };
}

function profilesSchema(): JsonSchema {
  const entry = { anyOf: [{ type: 'string' }, inputSchema(kernelFit)] };
  const description = "one's own measurements: the path of what epsim calibrate -o wrote, or a list of them";
  return { description, anyOf: [{ type: 'string' }, { type: 'array', items: entry }] };
}

function clusterSchema(catalog: Catalog): JsonSchema {
  const object = inputSchema(z.strictObject(clusterFields));
  const preset = { enum: Object.keys(clusterPresets) };
  const device = inputSchema(z.strictObject(deviceFields));
  const devices = { enum: Object.keys(devicePresets) };
  const link = inputSchema(z.strictObject(linkFields));
  return {
    anyOf: [
      preset,
      {
        ...object,
        properties: {
          ...object.properties,
          preset,
          device: { anyOf: [devices, { ...device, properties: { ...device.properties, preset: devices } }] },
          scaleUp: link,
          scaleOut: { anyOf: [link, { type: 'null' }] },
          topology: choiceSchema(catalog.topology, 'kind', {}),
          profiles: profilesSchema(),
        },
      },
    ],
  };
}
