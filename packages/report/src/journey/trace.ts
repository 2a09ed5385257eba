/**
 * One token's way through a model as plain data: what a journey's page shows and journey.json holds.
 * Its one idea: every part names the run that it was measured in, or says that it was computed from sizes alone,
 * so that figures of a miniature and of a full-size model cannot be taken for one another.
 * Numbers are rounded to five significant digits when the trace is made; the page shows nothing else. Types and the
 * published JSON schema both come from the schemas here; the page imports only types.
 */
import { z } from 'zod';

const whole = z.int().min(0);
const numbers = z.array(z.number());
const positive = z.number().min(0);

const sourceName = z
  .enum(['miniature', 'calibration', 'gradient', 'training', 'fullSizePlan', 'fullSizeShape'])
  .describe('where the figures of a part come from: a key of `sources`');

const streamPart = z.strictObject({
  source: sourceName,
  picture: z
    .strictObject({
      side: whole.describe('pixels'),
      patchSize: whole.describe('pixels of a side of one patch'),
      mergeSize: whole.describe('patches a side that become one token together'),
      encoderLayers: whole,
      pixels: numbers.describe('grey values 0 to 1, row-major [side x side]'),
    })
    .nullable()
    .describe('null for a model that reads text alone'),
  tokens: z.array(z.strictObject({ kind: z.enum(['image', 'text']), label: z.string() })),
  focus: whole.describe('position of the token that is followed, from 0'),
  hiddenSize: whole,
  rows: z
    .array(numbers)
    .describe("first values of each token's row as it enters the first layer, [tokens x shown]"),
});

const layerRow = z.strictObject({
  mixer: z.enum(['kda', 'mla']),
  ffn: z.enum(['dense', 'moe']),
  mixerRms: positive.describe('root mean square of what the mixer added for the followed token'),
  keptFloats: whole.describe('floats that the mixer keeps for the sequence at the followed token'),
});

const kdaPart = z.strictObject({
  source: sourceName,
  layer: whole,
  head: whole,
  headCount: whole,
  headDim: whole,
  tokens: z
    .array(
      z.strictObject({
        alpha: numbers,
        beta: z.number(),
        key: numbers,
        value: numbers,
        predicted: numbers,
        missed: numbers,
        read: numbers,
        state: numbers.describe('after the token, row-major [headDim x headDim]'),
      }),
    )
    .describe('one entry per token up to the followed one; vectors are [headDim]'),
  stateBytes: whole.describe("of this head's state in FP32"),
  cacheBytesPerToken: whole.describe('16-bit bytes that one token adds to a softmax cache of such a head'),
});

const mlaPart = z.strictObject({
  source: sourceName,
  layer: whole,
  headCount: whole,
  latentRank: whole,
  sharedKeySize: whole,
  input: numbers.describe('what the layer read for the followed token, [hidden]'),
  kept: z.array(numbers).describe('rows of every visible token, [visible][latentRank + sharedKeySize]'),
  weights: z
    .array(numbers)
    .describe('softmax over the visible tokens, [headCount][visible], rows sum to one'),
  strongest: z
    .strictObject({ token: whole, key: numbers, value: numbers })
    .describe('the token that head 0 weighs most, its key and value expanded from what is kept'),
  gate: numbers.describe('output gate of head 0, 0 to 1'),
  output: numbers.describe('what the layer gave, [hidden]'),
  recomputedError: positive.describe('largest distance of `output` computed again from these parts'),
});

const depthRow = z.strictObject({
  layer: whole,
  place: z.enum(['attention', 'ffn', 'output']),
  weights: numbers.describe(
    'over the sources, summing to one: finished blocks, then the running sum in hand',
  ),
});

const widthPart = z.strictObject({
  source: sourceName,
  model: z.string(),
  layer: whole,
  topK: whole,
  biased: numbers.describe('of the followed token: score + bias of each expert, [experts]'),
  threshold: z.number().describe('smallest score + bias that was chosen'),
  runnerUp: z.number().describe('the largest that was not'),
  chosen: z.array(
    z.strictObject({
      expert: whole,
      score: z.number(),
      bias: z.number(),
      weight: z.number(),
      rank: whole,
    }),
  ),
  rankCount: whole,
  expertsPerRank: whole.describe('of the fullest rank'),
  sourceRank: whole,
  rowElements: whole.describe('of the row that travels'),
  dispatchRowBytes: positive.describe('its bytes out, with scales'),
  combineRowBytes: positive.describe('its bytes back, with scales'),
  rows: whole.describe("rows of the followed token that travel, its own rank's included, a rank once"),
  rowsPerChoice: whole.describe('the same when each choice travels by itself'),
  batchTokens: whole,
  batchBytes: positive.describe('of the whole batch, out and back, own rank included'),
  rowsPerPair: numbers.describe('rows of the batch from rank to rank, row-major [ranks x ranks]'),
  carriedBytes: positive.nullable().describe('that arrived when rows really moved; null where only planned'),
});

const balancePart = z.strictObject({
  source: sourceName,
  model: z.string(),
  layer: whole,
  tokens: whole,
  topK: whole,
  rounds: z
    .array(z.strictObject({ maxVio: z.number(), starved: whole, loads: numbers.describe('[experts]') }))
    .describe('first without bias, then after each round'),
});

const muonPart = z.strictObject({
  source: sourceName,
  layer: whole,
  rows: whole,
  columns: whole,
  blockRows: whole,
  pool: whole,
  pooled: numbers.describe('mean |gradient| over squares of pool x pool elements, row-major'),
  blocks: z.array(z.strictObject({ name: z.string(), perHead: positive, whole: positive })),
  steps: z
    .array(z.strictObject({ perHead: positive, whole: positive }))
    .describe('mean error over blocks before and after each of the five steps'),
  gramPerHead: numbers.describe('X X^T of the first block after five steps, [blockRows x blockRows]'),
  gramWhole: numbers,
  flopsPerHead: positive.describe('of the five steps'),
  flopsWhole: positive,
});

const nextTokenPart = z.strictObject({
  source: sourceName,
  vocabulary: whole,
  top: z
    .array(
      z.strictObject({
        label: z.string(),
        probability: positive,
        before: positive
          .nullable()
          .describe('of the same token with untrained weights; null where these are those'),
      }),
    )
    .describe('likeliest first'),
  restProbability: positive,
  entropyBits: positive,
  temperature: positive,
  sampled: z.string(),
});

const trainingPart = z.strictObject({
  source: sourceName,
  model: z.string(),
  seed: whole,
  tokensPerStep: whole,
  runs: z.array(
    z.strictObject({
      name: z.string(),
      loss: numbers.describe("mean of each step's batch before the step, nats a token"),
      maxVio: numbers.describe('of the same batches, mean over expert layers'),
    }),
  ),
});

const fullSizePart = z
  .strictObject({
    source: sourceName,
    name: z.string(),
    layers: whole,
    kdaLayers: whole,
    mlaLayers: whole,
    groups: whole,
    hiddenSize: whole,
    vocabulary: whole,
    contextTokens: whole,
    paramCount: whole,
    activeParamCount: whole,
    visionLayers: whole,
    kdaHeads: whole,
    kdaHeadDim: whole,
    kdaStateBytes: whole,
    mlaLatentRank: whole,
    mlaSharedKeySize: whole,
    cacheBytesPerToken: whole,
    blockLayers: whole,
    blockCount: whole,
    expertCount: whole,
    topK: whole,
    expertWidth: whole,
    muonFlopsPerHead: positive,
    muonFlopsWhole: positive,
  })
  .describe('a model at full size, from its sizes alone');

export const journeyTraceSchema = z.strictObject({
  format: z.literal('epsim-journey-1'),
  version: z.string(),
  model: z.string(),
  seed: whole,
  sources: z
    .record(sourceName, z.string().nullable())
    .describe('a sentence on each run or computation; null where it did not take place'),
  stream: streamPart,
  layers: z.array(layerRow),
  kda: kdaPart,
  mla: mlaPart,
  depth: z.array(depthRow),
  width: widthPart,
  balance: balancePart,
  muon: muonPart,
  nextToken: nextTokenPart,
  nextTokenTrained: nextTokenPart.nullable().describe('after the short run; null where none was made'),
  training: trainingPart.nullable(),
  fullSize: fullSizePart,
  fullSizeWidth: widthPart,
  fullSizeBalance: balancePart,
});

type Frozen<T> = T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;

export type SourceName = z.infer<typeof sourceName>;
export type StreamPart = Frozen<z.infer<typeof streamPart>>;
export type LayerRow = Frozen<z.infer<typeof layerRow>>;
export type KdaPart = Frozen<z.infer<typeof kdaPart>>;
export type MlaPart = Frozen<z.infer<typeof mlaPart>>;
export type DepthRow = Frozen<z.infer<typeof depthRow>>;
export type WidthPart = Frozen<z.infer<typeof widthPart>>;
export type BalancePart = Frozen<z.infer<typeof balancePart>>;
export type MuonPart = Frozen<z.infer<typeof muonPart>>;
export type NextTokenPart = Frozen<z.infer<typeof nextTokenPart>>;
export type TrainingPart = Frozen<z.infer<typeof trainingPart>>;
export type FullSizePart = Frozen<z.infer<typeof fullSizePart>>;
export type JourneyTrace = Frozen<z.infer<typeof journeyTraceSchema>>;
