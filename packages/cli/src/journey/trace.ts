/**
 * One journey: the miniature is balanced on a calibration batch, its bias is frozen, and then a stream of picture
 * and text goes through it with its expert layers on the engine. What the pass shows becomes the trace.
 */
import { carriedExperts, type ShardFabric } from '@epsim/engine';
import {
  embedTokens,
  encodeText,
  type K3Event,
  type K3Model,
  type KdaShape,
  type KdaState,
  k3Forward,
  k3Sequence,
  k3Weights,
  type MlaCache,
  type MlaShape,
  miniText,
  seededMaker,
} from '@epsim/model';
import type { DepthRow, JourneyTrace, LayerRow } from '@epsim/report';
import type { DispatchPlan, ModelShape } from '@epsim/spec';
import type { ShardPool } from '@epsim/transport';
import { fullSizePart, fullSizePlan } from './full-size.js';
import { kdaPart, type MixerEvent, mlaPart } from './memory.js';
import { type Stream, streamOf } from './miniature.js';
import { muonPart } from './muon.js';
import { nextToken, trainedNextToken } from './next-token.js';
import { rms, round, rounded, rowOf } from './numbers.js';
import type { Trained } from './training.js';
import { balanceRounds, widthPart } from './width.js';

export interface JourneyRequest {
  readonly shape: ModelShape;
  readonly seed: number;
  readonly text: string;
  /** Position of the followed token in the stream, from 0: `focusOf`. */
  readonly focus: number;
  readonly rankCount: number;
  readonly shardCount: () => number;
  /** Closed by whoever opened it. */
  readonly reach: ShardPool | ShardFabric;
  readonly trained: Trained | null;
  readonly version: string;
  readonly note: (text: string) => void;
}

/** Tokens of the calibration batch and rounds of balancing per layer; tokens behind the gradient. */
const CALIBRATION_TOKENS = 512;
const ROUNDS = 4;
const GRADIENT_TOKENS = 64;
/** Values of a row that the first scene shows. */
const SHOWN = 16;

type ExpertsEvent = Extract<K3Event, { kind: 'experts' }>;

/**
 * Sets the layers' bias from the scores of one pass over a text, made without bias; returns the rounds of `shown`.
 */
async function calibrate(model: K3Model, seed: number, shown: number) {
  const ids = encodeText(miniText(seed, 60)).subarray(0, CALIBRATION_TOKENS);
  let kept: ReturnType<typeof balanceRounds>['rounds'] = [];
  await k3Forward(model, k3Sequence(model.shape), embedTokens(model, ids), {
    watch(event) {
      if (event.kind !== 'experts') return;
      const { rounds, bias } = balanceRounds(event.scores, model.shape, ROUNDS);
      const ffn = model.weights.layers[event.layer].ffn;
      if (ffn.kind === 'moe') ffn.weights.selectionBias.set(bias);
      if (event.layer === shown) kept = rounds;
    },
  });
  return { rounds: kept, tokens: ids.length };
}

export interface Seen {
  readonly mixers: MixerEvent[];
  readonly depth: Extract<K3Event, { kind: 'depth' }>[];
  readonly experts: ExpertsEvent[];
  readonly plans: Map<number, { readonly plan: DispatchPlan; readonly bytes: number }>;
  readonly logits: Float32Array;
}

async function travel(request: JourneyRequest, model: K3Model, stream: Stream): Promise<Seen> {
  const { shape, seed, rankCount, shardCount, reach } = request;
  const mixers: MixerEvent[] = [];
  const depth: Seen['depth'] = [];
  const seen: ExpertsEvent[] = [];
  const plans: Seen['plans'] = new Map();
  const experts = carriedExperts({
    model: shape,
    seed,
    rankCount,
    maxTokens: stream.labels.length,
    shardCount,
    reach,
    watch: (layer, plan, bytes) => plans.set(layer, { plan, bytes }),
  });
  const logits = await k3Forward(model, k3Sequence(shape), stream.rows, {
    experts: experts.run,
    watch(event) {
      if (event.kind === 'mixer') mixers.push(event);
      else if (event.kind === 'depth') depth.push(event);
      else seen.push(event);
    },
  });
  return { mixers, depth, experts: seen, plans, logits };
}

function layerRows(shape: ModelShape, mixers: readonly MixerEvent[], focus: number): LayerRow[] {
  return mixers.map(({ layer, output, state }) => {
    const { attention, ffn } = shape.layers[layer];
    const kda = attention?.kind === 'kda';
    const cache = state as MlaCache;
    const fixed = state as KdaState;
    return {
      mixer: kda ? 'kda' : 'mla',
      ffn: ffn?.kind === 'dense' ? 'dense' : 'moe',
      mixerRms: round(rms(rowOf(output, focus, shape.hiddenSize))),
      keptFloats: kda ? fixed.memory.length + 3 * fixed.keyHistory.length : cache.width * (focus + 1),
    };
  });
}

function depthRows(events: Seen['depth'], focus: number): DepthRow[] {
  return events.map(({ layer, place, sourceCount, weights }) => ({
    layer,
    place,
    weights: rounded(rowOf(weights, focus, sourceCount)),
  }));
}

const first = (shape: ModelShape, kind: 'kda' | 'mla') =>
  shape.layers.findIndex((layer) => layer.attention?.kind === kind);

/** What the parts of a trace are made from. */
export interface Travelled {
  readonly request: JourneyRequest;
  readonly model: K3Model;
  readonly stream: Stream;
  readonly focus: number;
  /** The layer of experts that is shown. */
  readonly shown: number;
  readonly calibration: Awaited<ReturnType<typeof calibrate>>;
  readonly seen: Seen;
}

/** Runs the journey. */
export async function journey(request: JourneyRequest): Promise<JourneyTrace> {
  const { shape, seed, focus, note } = request;
  const model: K3Model = { shape, weights: k3Weights(shape, seededMaker(shape, seed)) };
  const stream = streamOf(model, request.text, seed);
  const routedLayers = shape.layers.flatMap((layer, i) => (layer.ffn?.kind === 'moe' ? [i] : []));
  const shown = routedLayers[Math.floor(routedLayers.length / 2)];
  note('balancing the router on a calibration batch');
  const calibration = await calibrate(model, seed, shown);
  note('one stream through the miniature');
  const seen = await travel(request, model, stream);
  note('the gradient, and Kimi K3 at full size');
  const travelled: Travelled = { request, model, stream, focus, shown, calibration, seen };
  const full = fullSizePlan(seed);
  return {
    format: 'epsim-journey-1',
    version: request.version,
    model: shape.name,
    seed,
    sources: sourcesOf(travelled, full.words),
    stream: streamPart(shape, stream, focus),
    layers: layerRows(shape, seen.mixers, focus),
    ...memoryParts(travelled),
    depth: depthRows(seen.depth, focus),
    ...widthParts(travelled),
    muon: muonPart(shape, seed, first(shape, 'kda'), GRADIENT_TOKENS),
    nextToken: nextToken(shape, rowOf(seen.logits, focus, shape.vocabSize), seed),
    nextTokenTrained: await trainedNextToken(travelled),
    training: request.trained?.part ?? null,
    fullSize: fullSizePart(),
    fullSizeWidth: full.width,
    fullSizeBalance: full.balance,
  };
}

function sourcesOf(
  { request, stream, calibration }: Travelled,
  fullSizePlan: string,
): JourneyTrace['sources'] {
  const { shape, seed, rankCount, trained } = request;
  return {
    miniature: `${shape.name}, untrained weights of seed ${seed}: one pass over ${stream.labels.length} rows, expert layers carried between ${rankCount} ranks in FP32.`,
    calibration: `${shape.name}, the same weights: router scores of ${calibration.tokens} tokens of a text made here, frozen while the bias is moved.`,
    gradient: `${shape.name}, the same weights: the gradient of the loss on ${GRADIENT_TOKENS} tokens of that text.`,
    training:
      trained === null
        ? null
        : `${shape.name} trained here from seed ${seed}, ${trained.part.runs[0].loss.length} steps of ${trained.part.tokensPerStep} tokens of text in each run; for the next token, one pass of the same stream over the weights of the first run, in one process.`,
    fullSizePlan,
    fullSizeShape: 'Kimi K3 at full size, computed from the sizes in its published configuration.',
  };
}

/** The first head of the first recurrent layer, and the first global read. */
function memoryParts({ model, seen, focus }: Travelled): Pick<JourneyTrace, 'kda' | 'mla'> {
  const { shape, weights } = model;
  const [kdaLayer, mlaLayer] = [first(shape, 'kda'), first(shape, 'mla')];
  const [kda, mla] = [weights.layers[kdaLayer].mixer, weights.layers[mlaLayer].mixer];
  if (kda.kind !== 'kda' || mla.kind !== 'mla') throw new RangeError(`${shape.name} is not K3's`);
  const kdaShape = shape.layers[kdaLayer].attention as KdaShape;
  const mlaShape = shape.layers[mlaLayer].attention as MlaShape;
  return {
    kda: kdaPart(seen.mixers[kdaLayer], kdaShape, kda.weights, shape.hiddenSize, 0, focus),
    mla: mlaPart(seen.mixers[mlaLayer], mlaShape, mla.weights, shape.hiddenSize, focus),
  };
}

function widthParts(travelled: Travelled): Pick<JourneyTrace, 'width' | 'balance'> {
  const { model, seen, shown, focus, calibration } = travelled;
  const { shape } = model;
  const experts = seen.experts.find((event) => event.layer === shown);
  const carried = seen.plans.get(shown);
  const { ffn } = model.weights.layers[shown];
  if (experts === undefined || carried === undefined || ffn.kind !== 'moe') {
    throw new Error(`invariant: layer ${shown} was not carried`);
  }
  const floatRow = shape.moe.expertWidth * 4;
  return {
    width: widthPart({
      ...{ source: 'miniature', shape, layer: shown, plan: carried.plan, focus },
      scores: experts.scores,
      bias: ffn.weights.selectionBias,
      rowBytes: { dispatch: floatRow, combine: floatRow },
      carriedBytes: carried.bytes,
    }),
    balance: {
      ...{ source: 'calibration', model: shape.name, layer: shown },
      tokens: calibration.tokens,
      topK: shape.moe.topK,
      rounds: calibration.rounds,
    },
  };
}

function streamPart(shape: ModelShape, stream: Stream, focus: number): JourneyTrace['stream'] {
  const { vision, hiddenSize } = shape;
  return {
    source: 'miniature',
    picture:
      stream.picture === null || vision === null
        ? null
        : {
            side: stream.picture.side,
            patchSize: vision.patchSize,
            mergeSize: vision.mergeSize,
            encoderLayers: vision.layerCount,
            pixels: rounded(stream.picture.pixels, 3),
          },
    tokens: stream.labels,
    focus,
    hiddenSize,
    rows: stream.labels.map((_, t) => rounded(rowOf(stream.rows, t, hiddenSize).subarray(0, SHOWN), 4)),
  };
}
