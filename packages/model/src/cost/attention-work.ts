/**
 * FLOPs and bytes of each kind of token mixer for a batch of sequences.
 * The one idea: softmax attention pays for every visible pair of tokens, a recurrent mixer for every token;
 * projections are the mixer's matrices, counted from its parameter list.
 * Kernel quality is not known here.
 */
import type { AttentionShape, ModelShape } from '@epsim/spec';
import { attentionTensors } from '../parameters/attention-parameters.js';
import { cacheElementsPerToken, fixedStateElements } from '../parameters/state.js';
import { storedBytes } from '../parameters/tensor-entry.js';
import { addWork, NO_WORK, type Work } from './roofline.js';

/** Activations and caches in 16 bits, recurrent states in 32. */
const ACTIVATION_BYTES = 2;
const STATE_BYTES = 4;
/** Tokens of a chunk in the chunkwise form of recurrent mixers. */
const CHUNK_TOKENS = 64;

/** A step of attention on one rank: every sequence brings the same number of new tokens. */
export interface AttentionBatch {
  readonly sequences: number;
  /** New tokens of each sequence: 1 in decode, the prompt or a chunk of it in prefill. */
  readonly newTokens: number;
  /** Tokens of each sequence after this step, new ones included. */
  readonly contextTokens: number;
  /** Bytes of one cached element; 2 when absent. */
  readonly cacheBytes?: number;
}

/** Visible pairs of one sequence: each new token sees the past, itself and no more than `window`. */
export function visiblePairs(newTokens: number, contextTokens: number, window: number | null = null): number {
  const past = contextTokens - newTokens;
  if (past < 0) {
    throw new RangeError(
      `visiblePairs: ${newTokens} new tokens in a context of ${contextTokens}; a context holds its new tokens`,
    );
  }
  if (window === null) return newTokens * past + (newTokens * (newTokens + 1)) / 2;
  const growing = Math.max(0, Math.min(newTokens, window - past));
  return growing * past + (growing * (growing + 1)) / 2 + (newTokens - growing) * window;
}

/** Projections in and out: every matrix of the mixer once per new token. */
export function projectionWork(model: ModelShape, attention: AttentionShape, tokens: number): Work {
  if (tokens === 0) return NO_WORK;
  let elements = 0;
  let bytes = 0;
  let kernels = 0;
  for (const tensor of attentionTensors(attention, model.hiddenSize)) {
    if (tensor.plain) continue;
    elements += tensor.elements;
    bytes += storedBytes(tensor.elements, model.precision.rest);
    kernels += 1;
  }
  const rows = ACTIVATION_BYTES * tokens * (elements / model.hiddenSize + 2 * model.hiddenSize);
  return { flops: 2 * tokens * elements, bytes: bytes + rows, kernels };
}

type Mla = Extract<AttentionShape, { kind: 'mla' }>;
type Gqa = Extract<AttentionShape, { kind: 'gqa' }>;
type SharedKvMqa = Extract<AttentionShape, { kind: 'shared-kv-mqa' }>;
type Recurrent = Exclude<AttentionShape, Mla | Gqa | SharedKvMqa>;

/** Scores and weighted sums in the latent, or after expanding keys and values: the cheaper of the two. */
function mlaFlops(a: Mla, batch: AttentionBatch, pairs: number): number {
  const absorbed = 2 * a.headCount * pairs * (2 * a.kvLoraRank + a.ropeHeadDim);
  const expand = 2 * batch.contextTokens * a.kvLoraRank * a.headCount * (a.nopeHeadDim + a.valueHeadDim);
  const expanded = expand + 2 * a.headCount * pairs * (a.nopeHeadDim + a.ropeHeadDim + a.valueHeadDim);
  return batch.sequences * Math.min(absorbed, expanded);
}

function mlaWork(a: Mla, batch: AttentionBatch): Work {
  const { sequences, newTokens, contextTokens, cacheBytes = ACTIVATION_BYTES } = batch;
  const all = visiblePairs(newTokens, contextTokens);
  const pairs = a.indexer === null ? all : Math.min(all, newTokens * a.indexer.topK);
  const indexFlops = a.indexer === null ? 0 : 2 * sequences * all * a.indexer.headCount * a.indexer.headDim;
  const latent = a.kvLoraRank + a.ropeHeadDim;
  const latentsRead = Math.min(contextTokens, pairs) * latent;
  const indexRead = contextTokens * (a.indexer?.headDim ?? 0);
  const rows = newTokens * a.headCount * (a.nopeHeadDim + a.ropeHeadDim + a.valueHeadDim);
  return {
    flops: mlaFlops(a, batch, pairs) + indexFlops,
    bytes: sequences * ((latentsRead + indexRead) * cacheBytes + rows * ACTIVATION_BYTES),
    kernels: a.indexer === null ? 1 : 2,
  };
}

function gqaWork(a: Gqa, batch: AttentionBatch): Work {
  const { sequences, newTokens, contextTokens, cacheBytes = ACTIVATION_BYTES } = batch;
  const pairs = visiblePairs(newTokens, contextTokens, a.windowTokens);
  const read = Math.min(contextTokens, (a.windowTokens ?? contextTokens) + newTokens - 1);
  const rows = 2 * newTokens * a.headCount * a.headDim;
  return {
    flops: 4 * sequences * pairs * a.headCount * a.headDim,
    bytes: sequences * (read * cacheElementsPerToken(a) * cacheBytes + rows * ACTIVATION_BYTES),
    kernels: 1,
  };
}

/** Sum of min(floor(p / ratio), most) over the first `tokens` positions p = 1, 2, ... */
function blocksSeenUpTo(tokens: number, ratio: number, most: number): number {
  const capped = Math.max(0, tokens - (ratio * most - 1));
  const growing = tokens - capped;
  const full = Math.floor(growing / ratio);
  const rising = (ratio * full * (full - 1)) / 2 + full * (growing - full * ratio + 1);
  return capped === 0 ? rising : rising + capped * most;
}

/** Pairs of a new token and a full block of `ratio` tokens that it sees, no more than `most` blocks each. */
export function visibleBlocks(
  newTokens: number,
  contextTokens: number,
  ratio: number,
  most = Number.POSITIVE_INFINITY,
): number {
  const past = contextTokens - newTokens;
  return blocksSeenUpTo(contextTokens, ratio, most) - blocksSeenUpTo(past, ratio, most);
}

/** Scores and sums over the window and the blocks, and the indexer's scores over all blocks. */
function sharedKvMqaWork(a: SharedKvMqa, batch: AttentionBatch): Work {
  const { sequences, newTokens, contextTokens, cacheBytes = ACTIVATION_BYTES } = batch;
  const windowPairs = visiblePairs(newTokens, contextTokens, a.windowTokens);
  const windowRead = Math.min(contextTokens, a.windowTokens + newTokens - 1);
  const rows = 2 * newTokens * a.headCount * a.headDim;
  const { ratio, indexer = null } = a.compression ?? {};
  const all = ratio === undefined ? 0 : visibleBlocks(newTokens, contextTokens, ratio);
  const chosen =
    ratio === undefined || indexer === null
      ? all
      : visibleBlocks(newTokens, contextTokens, ratio, indexer.topK);
  const blocks = ratio === undefined ? 0 : Math.floor(contextTokens / ratio);
  const read = (windowRead + Math.min(blocks, chosen)) * a.headDim + blocks * (indexer?.headDim ?? 0);
  const index = indexer === null ? 0 : 2 * all * indexer.headCount * indexer.headDim;
  return {
    flops: sequences * (4 * (windowPairs + chosen) * a.headCount * a.headDim + index),
    bytes: sequences * (read * cacheBytes + rows * ACTIVATION_BYTES),
    kernels: indexer === null ? 1 : 2,
  };
}

/** [heads, key width, value width] of a recurrent mixer's state. */
function recurrentSizes(a: Recurrent): { heads: number; key: number; value: number } {
  switch (a.kind) {
    case 'kda':
      return { heads: a.headCount, key: a.headDim, value: a.headDim };
    case 'gated-delta-net':
      return { heads: a.valueHeadCount, key: a.headDim, value: a.headDim };
    case 'mamba2':
      return { heads: a.headCount, key: a.stateSize, value: a.headDim };
  }
}

/**
 * Decay, probe, correct and read of the state, 7 FLOPs per state element and token; a chunk adds its own
 * triangle of pairs. The state is read and written once per sequence and step.
 */
function recurrentWork(a: Recurrent, batch: AttentionBatch): Work {
  const { sequences, newTokens } = batch;
  const { heads, key, value } = recurrentSizes(a);
  const tokens = sequences * newTokens;
  const chunk = Math.min(CHUNK_TOKENS, newTokens);
  const inChunk = newTokens > 1 ? 2 * chunk * (2 * key + 2 * value) : 0;
  const fixed = fixedStateElements(a);
  const rows = tokens * heads * (3 * key + 2 * value) * ACTIVATION_BYTES;
  return {
    flops: tokens * heads * (7 * key * value + inChunk),
    bytes: 2 * sequences * (fixed.recurrent * STATE_BYTES + fixed.conv * ACTIVATION_BYTES) + rows,
    kernels: 1,
  };
}

/** Attention proper, projections apart. Kernels count launches of the size that latent attention was timed at. */
export function coreWork(attention: AttentionShape, batch: AttentionBatch): Work {
  if (batch.sequences === 0 || batch.newTokens === 0) return NO_WORK;
  switch (attention.kind) {
    case 'mla':
      return mlaWork(attention, batch);
    case 'gqa':
      return gqaWork(attention, batch);
    case 'shared-kv-mqa':
      return sharedKvMqaWork(attention, batch);
    default:
      return recurrentWork(attention, batch);
  }
}

/** Projections and attention together. */
export function attentionWork(model: ModelShape, attention: AttentionShape, batch: AttentionBatch): Work {
  return addWork(
    projectionWork(model, attention, batch.sequences * batch.newTokens),
    coreWork(attention, batch),
  );
}
