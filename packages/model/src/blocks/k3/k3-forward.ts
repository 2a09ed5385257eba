/**
 * A token's way through a K3-like model: sequence, depth and width, layer by layer.
 *   h = mix(blocks, running sum); running sum += mixer(RMSNorm(h))
 *   m = mix(blocks, running sum); running sum += feed-forward(RMSNorm(m))
 * Its one idea: everything that a later token needs of earlier ones is in the sequence's state, and every sum is
 * formed per row, so prefill and token-by-token decoding give the same bits.
 * The expert layers may run elsewhere (`experts`), and everything of interest can be watched (`watch`).
 */
import type { ModelShape } from '@epsim/spec';
import {
  addSublayer,
  closeBlock,
  type DepthState,
  depthSources,
  depthState,
  mixDepth,
} from '../attention-residual.js';
import { gatedMla, type MlaCache, type MlaShape, mlaCache } from '../gated-mla.js';
import { gluNetwork } from '../glu-network.js';
import { headLogits } from '../head.js';
import { type KdaShape, type KdaState, kda, kdaState } from '../kda.js';
import {
  type Choices,
  chooseExperts,
  type LatentMoeWeights,
  moeLatents,
  moeOutput,
  plainExperts,
  routerScores,
} from '../latent-moe.js';
import { rowCount } from '../linear.js';
import { rmsNorm } from '../rms-norm.js';
import { gluOf } from '../situ-glu.js';
import type { K3LayerWeights, K3Weights } from './k3-weights.js';

/**
 * Runs the chosen experts of one layer: latents [tokens x width] to `out` [tokens x width], sums in choice order.
 * May be asynchronous: a pool of threads, or processes.
 */
export type ExpertLayer = (
  layer: number,
  latents: Float32Array,
  choices: Choices,
  out: Float32Array,
) => void | Promise<void>;

/** What a watcher sees, in order. Arrays belong to the pass; copy what is kept. */
export type K3Event =
  | {
      /** What a sublayer reads over depth: weights [tokens x sources]. `layer` is the layer count for the output. */
      readonly kind: 'depth';
      readonly layer: number;
      readonly place: 'attention' | 'ffn' | 'output';
      readonly sourceCount: number;
      readonly weights: Float32Array;
    }
  | {
      readonly kind: 'mixer';
      readonly layer: number;
      /** What the mixer read and gave, [tokens x hidden], and the carried state after the tokens. */
      readonly input: Float32Array;
      readonly output: Float32Array;
      readonly state: KdaState | MlaCache;
    }
  | {
      /** Router scores [tokens x experts] and the choices made of them. */
      readonly kind: 'experts';
      readonly layer: number;
      readonly scores: Float32Array;
      readonly choices: Choices;
      readonly latents: Float32Array;
    };

export interface K3Model {
  readonly shape: ModelShape;
  readonly weights: K3Weights;
}

/** What a sequence carries: one state per layer, of fixed size for delta attention, growing for global reads. */
export interface K3Sequence {
  readonly mixers: readonly (KdaState | MlaCache)[];
}

export interface K3Options {
  readonly experts?: ExpertLayer;
  readonly watch?: (event: K3Event) => void;
  /** Tokens per chunk of delta attention; null (default) goes token by token. */
  readonly chunkTokens?: number | null;
}

export function k3Sequence(shape: ModelShape): K3Sequence {
  return {
    mixers: shape.layers.map(({ attention }) =>
      attention?.kind === 'mla' ? mlaCache(attention) : kdaState(attention as KdaShape),
    ),
  };
}

/** Rows of the embedding for token ids, [tokens x hidden]. Throws RangeError for an id outside the vocabulary. */
export function embedTokens(model: K3Model, ids: ArrayLike<number>): Float32Array {
  const { hiddenSize: hidden, vocabSize } = model.shape;
  const out = new Float32Array(ids.length * hidden);
  for (let i = 0; i < ids.length; i++) {
    if (!(ids[i] >= 0 && ids[i] < vocabSize))
      throw new RangeError(`token ${ids[i]} is not in a vocabulary of ${vocabSize}`);
    out.set(model.weights.embedding.subarray(ids[i] * hidden, (ids[i] + 1) * hidden), i * hidden);
  }
  return out;
}

/** Mixes over depth for one reader and tells the watcher. */
function readDepth(
  state: DepthState,
  depth: K3LayerWeights['ffnMix'],
  layer: number,
  place: 'attention' | 'ffn' | 'output',
  options: K3Options,
): Float32Array {
  const sources = depthSources(state);
  const { mixed, weights } = mixDepth(sources, depth);
  options.watch?.({ kind: 'depth', layer, place, sourceCount: sources.length, weights });
  return mixed;
}

function runMixer(
  x: Float32Array,
  model: K3Model,
  layer: number,
  sequence: K3Sequence,
  options: K3Options,
): Float32Array {
  const { hiddenSize: hidden, layers } = model.shape;
  const { mixer } = model.weights.layers[layer];
  const { attention } = layers[layer];
  const state = sequence.mixers[layer];
  const output =
    mixer.kind === 'kda'
      ? kda(x, hidden, attention as KdaShape, mixer.weights, state as KdaState, options.chunkTokens ?? null)
      : gatedMla(x, hidden, attention as MlaShape, mixer.weights, state as MlaCache);
  options.watch?.({ kind: 'mixer', layer, input: x, output, state });
  return output;
}

async function runExperts(
  x: Float32Array,
  shape: ModelShape,
  weights: LatentMoeWeights,
  layer: number,
  options: K3Options,
): Promise<Float32Array> {
  const { hiddenSize: hidden, moe } = shape;
  const glu = gluOf(shape);
  const scores = routerScores(x, weights.router, hidden, moe.expertCount);
  const choices = chooseExperts(scores, weights.selectionBias, moe);
  const latents = moeLatents(x, hidden, moe.expertWidth, weights);
  options.watch?.({ kind: 'experts', layer, scores, choices, latents });
  const y = new Float32Array(rowCount(x, hidden) * moe.expertWidth);
  if (options.experts === undefined) plainExperts(glu, weights.experts, latents, moe.expertWidth, choices, y);
  else await options.experts(layer, latents, choices, y);
  return moeOutput(x, y, hidden, moe.expertWidth, glu, weights);
}

/**
 * Logits [tokens x vocabulary] for the next rows of a sequence, x [tokens x hidden]: text embeddings, image tokens,
 * or both in any order. Moves the sequence on.
 */
export async function k3Forward(
  model: K3Model,
  sequence: K3Sequence,
  x: Float32Array,
  options: K3Options = {},
): Promise<Float32Array> {
  const { shape, weights } = model;
  const state = depthState(x);
  for (let layer = 0; layer < weights.layers.length; layer++) {
    const own = weights.layers[layer];
    const h = layer === 0 ? x : readDepth(state, own.attentionMix, layer, 'attention', options);
    closeBlock(state, layer, shape.attnResBlockLayers ?? shape.layers.length);
    addSublayer(state, runMixer(rmsNorm(h, own.attentionNorm), model, layer, sequence, options));
    const m = rmsNorm(readDepth(state, own.ffnMix, layer, 'ffn', options), own.ffnNorm);
    const output =
      own.ffn.kind === 'dense'
        ? gluNetwork(gluOf(shape), own.ffn.weights, m, shape.hiddenSize)
        : await runExperts(m, shape, own.ffn.weights, layer, options);
    addSublayer(state, output);
  }
  return headLogits(
    readDepth(state, weights.outputMix, weights.layers.length, 'output', options),
    weights.head,
  );
}
