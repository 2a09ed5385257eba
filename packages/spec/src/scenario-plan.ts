/**
 * The `plan` section: what a fleet has to serve, how well, and with how much.
 * The one idea: everything is optional but means something when absent, and nothing here knows a layout.
 */
import * as z from 'zod';
import { inputSchema, type JsonSchema } from './catalog.js';
import type { Plain, PlainObject } from './document.js';
import { MOST_RANKS } from './limits.js';
import { exactQuantity, zBytes, zDollarsPerHour, zDuration, zWatts } from './quantity.js';
import type { Fields, Reader } from './reader.js';
import type { PlanRequest } from './scenario-nouns.js';

const MOST_TOKENS = 1_000_000_000;
const tokens = (least: number) => z.int().min(least).max(MOST_TOKENS);
const positive = (max: number) => z.number().gt(0).max(max).nullable();

const sections = {
  requests: {
    inputTokens: tokens(1).default(4000).describe('mean tokens of a prompt'),
    outputTokens: tokens(1).default(1000).describe('mean tokens of an answer'),
    spread: z.number().min(0).max(10).default(0).describe('standard deviation over mean of both lengths'),
    cacheHitRate: z.number().min(0).lt(1).default(0).describe('share of prompt tokens found in a cache'),
    ratePerSec: positive(1e9).default(null).describe('requests per second that the fleet must take'),
    users: positive(1e9).default(null).describe('requests that are being served at any time'),
  },
  objectives: {
    ttft: zDuration().nullable().default(null).describe('longest time to the first token'),
    tpot: zDuration().nullable().default(null).describe('longest time between tokens of one request'),
    tokensPerSecPerUser: positive(1e9).default(null).describe('least speed of one request'),
    costPerMillionTokens: positive(1e9).default(null).describe('most dollars for a million output tokens'),
    power: zWatts().nullable().default(null).describe('most watts of all accelerators of the fleet'),
    quantile: z
      .number()
      .gt(0)
      .max(0.999)
      .nullable()
      .default(null)
      .describe('quantile that TTFT and TPOT are held to under load; null holds the means'),
  },
  limits: {
    ranks: z.int().min(1).max(MOST_RANKS).nullable().default(null).describe('most ranks of one instance'),
    nodes: z
      .int()
      .min(1)
      .max(MOST_RANKS)
      .nullable()
      .default(null)
      .describe('most scale-up domains of one instance'),
    fleetRanks: z.int().min(1).max(1e7).nullable().default(null).describe('most ranks of all instances'),
  },
  engine: {
    serving: z
      .enum(['split', 'together', 'either'])
      .default('either')
      .describe('prefill and decode in pools of their own, on the same ranks, or whichever is better'),
    cacheFormat: z.enum(['bf16', 'fp8']).default('bf16').describe('storage of keys, values and latents'),
    windows: z
      .enum(['kept', 'unified'])
      .default('kept')
      .describe('whether layers with a window hold the window only, or all tokens'),
    memoryFraction: z.number().gt(0).max(1).default(0.9).describe('share of device memory that is used'),
    reserve: zBytes().prefault('2 GB').describe('of each rank, for communication libraries and the runtime'),
    chunkTokens: tokens(1).default(16_384).describe('prompt tokens that one rank computes together'),
    mtpLayers: z.int().min(0).max(16).default(0).describe('extra prediction layers in use'),
    acceptedTokens: z
      .number()
      .min(1)
      .max(17)
      .default(1)
      .describe('tokens that a decode step yields on average, drafted ones included'),
    stepOverhead: zDuration().prefault('500 us').describe('scheduling and sampling between two steps'),
  },
  training: {
    sequenceTokens: tokens(1).default(4096).describe('tokens of a training sequence'),
    globalBatchTokens: tokens(1).default(16_777_216).describe('tokens between two updates of the weights'),
    microBatchSequences: z
      .int()
      .min(1)
      .max(65_536)
      .default(1)
      .describe('sequences of one attention group that pass a stage together'),
    optimizer: z.enum(['per-head-muon', 'muon', 'adamw']).default('per-head-muon'),
    recompute: z.boolean().default(true).describe('compute the forward pass again instead of storing it'),
  },
} as const satisfies Record<string, Fields>;

type Name = keyof typeof sections;
const names = Object.keys(sections) as Name[];
const rootFields = {
  dollarsPerHour: z
    .union([z.number().min(0), zDollarsPerHour()])
    .nullable()
    .default(null)
    .describe('of one accelerator; that of the cluster unless said'),
};

/** Null where nothing is to be planned; undefined, reported, when something could not be read. */
export function readPlan(to: Reader, input: Plain | undefined): PlanRequest | null | undefined {
  if (input === undefined || input === null || input === false) return null;
  const before = to.problems.length;
  const written = to.object(input, ['plan'], 'write { requests: { inputTokens: 4000, outputTokens: 1000 } }');
  if (!written) return undefined;
  const root = to.fields(rootFields, written, ['plan'], names);
  const part = <N extends Name>(name: N) => {
    const inner = Object.hasOwn(written, name) ? written[name] : {};
    const object = to.object(inner, ['plan', name], `write { ${Object.keys(sections[name])[0]}: ... }`);
    return to.fields<(typeof sections)[N]>(sections[name], object ?? {}, ['plan', name]);
  };
  const [requests, objectives, limits, engine, training] = [
    part('requests'),
    part('objectives'),
    part('limits'),
    part('engine'),
    part('training'),
  ];
  if (to.problems.length > before) return undefined;
  // Nothing was refused, so every field has its value: what is left open in the types was filled by a default.
  const { ttft, tpot, power, ...others } = objectives as Required<typeof objectives>;
  const { reserve, stepOverhead, ...terms } = engine as Required<typeof engine>;
  return {
    requests: requests as Required<typeof requests>,
    objectives: { ...others, ttftNs: ttft, tpotNs: tpot, watts: power },
    limits: limits as Required<typeof limits>,
    engine: { ...terms, reserveBytes: reserve, stepOverheadNs: stepOverhead },
    training: training as Required<typeof training>,
    dollarsPerHour: root.dollarsPerHour ?? null,
  };
}

/** The section as it would be written, with units. */
export function writtenPlan(plan: PlanRequest | null): PlainObject | null {
  if (plan === null) return null;
  const { ttftNs, tpotNs, watts, ...objectives } = plan.objectives;
  const { reserveBytes, stepOverheadNs, ...engine } = plan.engine;
  const text = (kind: 'duration' | 'power', value: number | null) =>
    value === null ? null : exactQuantity(kind, value);
  return {
    requests: { ...plan.requests },
    objectives: {
      ...objectives,
      ttft: text('duration', ttftNs),
      tpot: text('duration', tpotNs),
      power: text('power', watts),
    },
    limits: { ...plan.limits },
    engine: {
      ...engine,
      reserve: exactQuantity('bytes', reserveBytes),
      stepOverhead: exactQuantity('duration', stepOverheadNs),
    },
    training: { ...plan.training },
    dollarsPerHour: plan.dollarsPerHour,
  };
}

/** JSON schema of the section. */
export function planJsonSchema(): JsonSchema {
  const inner = names.map((name) => [name, inputSchema(z.strictObject(sections[name]))] as const);
  const root = inputSchema(z.strictObject(rootFields));
  return {
    anyOf: [
      { ...root, properties: { ...Object.fromEntries(inner), ...root.properties } },
      { enum: [null, false] },
    ],
  };
}
