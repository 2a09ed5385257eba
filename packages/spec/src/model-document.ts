/**
 * A model's shape as it is written in a file: the same sizes as in memory, with repeated parts written once.
 * The one idea: layers are runs `[attention, ffn, count]` over two short lists, so that 93 layers take a few lines.
 * Used for models that are no preset, in resolved scenarios and in scenarios that spell a model out.
 */
import * as z from 'zod';
import { MOST_LAYERS, MOST_OF_A_SIZE } from './limits.js';
import type { AttentionShape, DenseShape, LayerShape, ModelShape, MoeShape } from './model-shape.js';
import { precisions } from './precision.js';

const size = z.int().min(1).max(MOST_OF_A_SIZE);
const amount = z.int().min(0).max(MOST_OF_A_SIZE);

const indexer = z.strictObject({ headCount: size, headDim: size, topK: size });

const attention = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('mla'),
    headCount: size,
    qLoraRank: size.nullable(),
    kvLoraRank: size,
    nopeHeadDim: amount,
    ropeHeadDim: amount,
    valueHeadDim: size,
    outputGate: z.boolean(),
    indexer: indexer.nullable(),
  }),
  z.strictObject({
    kind: z.literal('gqa'),
    headCount: size,
    kvHeadCount: size,
    headDim: size,
    windowTokens: size.nullable(),
    outputGate: z.boolean(),
    bias: z.boolean(),
    qkNorm: z.boolean(),
    sinks: z.boolean(),
  }),
  z.strictObject({
    kind: z.literal('shared-kv-mqa'),
    headCount: size,
    headDim: size,
    ropeHeadDim: amount,
    qLoraRank: size,
    outputGroupCount: size,
    outputLoraRank: size,
    windowTokens: size,
    compression: z
      .strictObject({ ratio: size, overlapping: z.boolean(), indexer: indexer.nullable() })
      .nullable(),
  }),
  z.strictObject({
    kind: z.literal('kda'),
    headCount: size,
    headDim: size,
    convSize: size,
    gateRank: size,
    fullRankOutputGate: z.boolean(),
    logDecayBound: z.number().nullable(),
  }),
  z.strictObject({
    kind: z.literal('gated-delta-net'),
    keyHeadCount: size,
    valueHeadCount: size,
    headDim: size,
    convSize: size,
  }),
  z.strictObject({
    kind: z.literal('mamba2'),
    headCount: size,
    headDim: size,
    groupCount: size,
    stateSize: size,
    convSize: size,
  }),
]);

const moe = z.strictObject({
  kind: z.literal('moe'),
  expertCount: size.max(65_536),
  topK: size.max(1024),
  expertWidth: size,
  expertInnerSize: size,
  latent: z.boolean(),
  latentNorm: z.boolean(),
  sharedExpertCount: amount,
  sharedInnerSize: amount,
  scoring: z.enum(['sigmoid', 'softmax', 'softmax-over-top-k', 'sqrt-softplus']),
  renormalize: z.boolean(),
  routedScaling: z.number(),
  selectionBias: z.boolean(),
  groupCount: size,
  topGroupCount: size,
  bias: z.boolean(),
  gated: z.boolean(),
});

const precision = z.strictObject({
  name: z.enum(Object.keys(precisions) as (keyof typeof precisions)[]),
  bits: size,
  groupSize: amount,
  scaleBits: amount,
});

const vision = z.strictObject({
  layerCount: size,
  hiddenSize: size,
  innerSize: size,
  headCount: size,
  headDim: size,
  patchSize: size,
  mergeSize: size,
  positionGrid: size,
  projectorInnerSize: size,
});

/** `ffns` hold a dense inner size, or `moe` for the layer of experts. */
export const modelDocument = z.strictObject({
  name: z.string().min(1),
  source: z.string(),
  hiddenSize: size,
  vocabSize: size,
  contextTokens: size,
  tiedEmbeddings: z.boolean(),
  activation: z.enum(['swiglu', 'situ', 'gelu', 'relu2']),
  situ: z.strictObject({ gateBound: z.number(), upBound: z.number().nullable() }).nullable(),
  attentions: z.array(attention).max(100),
  ffns: z.array(z.union([z.literal('moe'), size])).max(100),
  /** Runs of equal layers: index into `attentions` and into `ffns`, or null for none, and how many. */
  layers: z
    .array(z.tuple([amount.nullable(), amount.nullable(), size.max(MOST_LAYERS)]))
    .min(1)
    .max(MOST_LAYERS),
  moe,
  attnResBlockLayers: size.nullable(),
  residualStreams: size.max(64).default(1),
  mtpLayerCount: amount.max(100),
  vision: vision.nullable(),
  precision: z.strictObject({ routedExperts: precision, rest: precision }),
  assumptions: z.array(z.string()),
});

export type ModelDocument = z.output<typeof modelDocument>;

/** The document of a shape; `shapeOf` gives an equal shape back. */
export function documentOf(shape: ModelShape): ModelDocument {
  const attentions: AttentionShape[] = [];
  const ffns: ('moe' | number)[] = [];
  const layers: [number | null, number | null, number][] = [];
  for (const layer of shape.layers) {
    const a = layer.attention === null ? null : indexOf(attentions, layer.attention);
    const f = layer.ffn === null ? null : indexOf(ffns, writtenFfn(layer.ffn));
    const last = layers.at(-1);
    if (last && last[0] === a && last[1] === f) last[2]++;
    else layers.push([a, f, 1]);
  }
  return { ...shape, assumptions: [...shape.assumptions], attentions, ffns, layers };
}

/** The shape of a document. Throws RangeError, with a sentence, when its layers cannot be. */
export function shapeOf(document: ModelDocument): ModelShape {
  const { attentions, ffns, layers, ...rest } = document;
  const readFfns = ffns.map((written): DenseShape | MoeShape =>
    written === 'moe' ? document.moe : { kind: 'dense', innerSize: written },
  );
  const total = layers.reduce((sum, run) => sum + run[2], 0);
  if (total > MOST_LAYERS) throw new RangeError(`${total} layers; at most ${MOST_LAYERS}`);
  const expanded = layers.flatMap(([a, f, times]): LayerShape[] => {
    const outside = (index: number | null, list: readonly unknown[]) =>
      index !== null && index >= list.length;
    if (outside(a, attentions) || outside(f, ffns)) {
      throw new RangeError(`layers [${a}, ${f}, ${times}] point outside attentions or ffns`);
    }
    const layer = { attention: a === null ? null : attentions[a], ffn: f === null ? null : readFfns[f] };
    return Array.from({ length: times }, () => layer);
  });
  if (!expanded.some((layer) => layer.ffn?.kind === 'moe')) throw new RangeError('no layer has experts');
  return { ...rest, layers: expanded };
}

function writtenFfn(ffn: DenseShape | MoeShape): 'moe' | number {
  return ffn.kind === 'moe' ? 'moe' : ffn.innerSize;
}

/** Index of an equal entry, which is appended when there is none. */
function indexOf<T>(list: T[], entry: T): number {
  const text = JSON.stringify(entry);
  const found = list.findIndex((other) => JSON.stringify(other) === text);
  return found >= 0 ? found : list.push(entry) - 1;
}
