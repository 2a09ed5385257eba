/**
 * What a sequence leaves behind between steps: caches that grow with it and states that do not.
 * The one idea: softmax attention pays per token, a recurrent mixer pays once.
 * Allocation (pages, fragmentation) is not modelled; whether an engine keeps windows short is asked.
 */
import type { AttentionShape, ModelShape } from '@epsim/spec';

type SharedKvMqa = Extract<AttentionShape, { kind: 'shared-kv-mqa' }>;

export type StateFormat = 'fp32' | 'bf16' | 'fp8';

const BYTES_PER_ELEMENT: Readonly<Record<StateFormat, number>> = { fp32: 4, bf16: 2, fp8: 1 };
/** Recurrent states accumulate and stay in 32 bits; convolution tails are activations in 16. */
const RECURRENT_BYTES = 4;
const CONV_BYTES = 2;

export interface StateOptions {
  /** 'kept': a window layer holds its window only. 'unified': it holds every token, as one page size for all layers does. */
  readonly windows?: 'kept' | 'unified';
  /** Multi-token-prediction layers in use; each caches like the last layer. */
  readonly mtpLayers?: number;
  /** Tensor-parallel ranks that share the sequence: bytes of one of them are returned. */
  readonly tensorWays?: number;
}

export interface StateBytes {
  /** Grows with tokens: keys and values, or latents, and indexer keys. */
  readonly cache: number;
  /** Fixed per sequence: recurrent states, and blocks that are not full. */
  readonly recurrent: number;
  /** Fixed per sequence: the last inputs of short convolutions. */
  readonly conv: number;
  readonly total: number;
}

/**
 * Elements that one token adds to the cache of one layer in the long run, windows apart. K3's latent attention: 576;
 * DeepSeek-V4's entries for blocks of 4 tokens and their indexer: 160.
 */
export function cacheElementsPerToken(attention: AttentionShape | null): number {
  if (attention === null) return 0;
  switch (attention.kind) {
    case 'mla':
      return attention.kvLoraRank + attention.ropeHeadDim + (attention.indexer?.headDim ?? 0);
    case 'gqa':
      return 2 * attention.kvHeadCount * attention.headDim;
    case 'shared-kv-mqa':
      return blockElements(attention) / (attention.compression?.ratio ?? 1);
    default:
      return 0;
  }
}

/** Elements that a full block leaves in the cache: its entry and the indexer's key. */
function blockElements({ compression, headDim }: SharedKvMqa): number {
  return compression === null ? 0 : headDim + (compression.indexer?.headDim ?? 0);
}

/**
 * Values and gates of the tokens of a block that is not full yet, and of the block before it where blocks overlap.
 * They are summed up in 32 bits.
 */
function openBlockElements({ compression, headDim }: SharedKvMqa): number {
  if (compression === null) return 0;
  const halves = compression.overlapping ? 2 : 1;
  const tokens = halves * compression.ratio;
  return 2 * tokens * halves * (headDim + (compression.indexer?.headDim ?? 0));
}

/** Elements of one layer's fixed state: the recurrent matrix or the open block, and the convolution's tail. */
export function fixedStateElements(attention: AttentionShape | null): { recurrent: number; conv: number } {
  if (attention === null) return { recurrent: 0, conv: 0 };
  switch (attention.kind) {
    case 'shared-kv-mqa':
      return { recurrent: openBlockElements(attention), conv: 0 };
    case 'kda': {
      const width = attention.headCount * attention.headDim;
      return { recurrent: width * attention.headDim, conv: 3 * width * (attention.convSize - 1) };
    }
    case 'gated-delta-net': {
      const { keyHeadCount, valueHeadCount, headDim, convSize } = attention;
      const channels = (2 * keyHeadCount + valueHeadCount) * headDim;
      return { recurrent: valueHeadCount * headDim * headDim, conv: channels * (convSize - 1) };
    }
    case 'mamba2': {
      const { headCount, headDim, groupCount, stateSize, convSize } = attention;
      const channels = headCount * headDim + 2 * groupCount * stateSize;
      return { recurrent: headCount * headDim * stateSize, conv: channels * (convSize - 1) };
    }
    default:
      return { recurrent: 0, conv: 0 };
  }
}

/**
 * Fraction of a mixer's state that one of `ways` tensor-parallel ranks holds.
 * Latents are not made of heads: every rank holds them all, so tensor parallelism saves nothing there.
 * Heads are cut until there is one on each rank, and repeated beyond that.
 */
export function stateShareOfRank(attention: AttentionShape, ways: number): number {
  if (!(ways >= 1)) throw new RangeError(`stateShareOfRank: ${ways} tensor-parallel ranks; at least 1`);
  const cut = (heads: number): number => Math.ceil(heads / ways) / heads;
  switch (attention.kind) {
    case 'mla':
    case 'shared-kv-mqa':
      return 1;
    case 'gqa':
      return cut(attention.kvHeadCount);
    case 'kda':
    case 'mamba2':
      return cut(attention.headCount);
    case 'gated-delta-net':
      return cut(attention.valueHeadCount);
  }
}

/**
 * Elements of the cache of one layer after `tokens`. Blocks stand beside their window in a cache of their own, so
 * that window is never held longer, whatever an engine does with layers that have nothing but a window.
 */
function cacheElements(attention: AttentionShape, tokens: number, windows: 'kept' | 'unified'): number {
  if (attention.kind === 'shared-kv-mqa') {
    const blocks = Math.floor(tokens / (attention.compression?.ratio ?? 1));
    return Math.min(tokens, attention.windowTokens) * attention.headDim + blocks * blockElements(attention);
  }
  const window = attention.kind === 'gqa' ? attention.windowTokens : null;
  const held = window === null || windows === 'unified' ? tokens : Math.min(tokens, window);
  return cacheElementsPerToken(attention) * held;
}

/**
 * Bytes that one sequence of `tokens` holds on one rank. `format` is that of the growing cache.
 * K3: 27,648 B a token in BF16 over 24 layers, and 434 MB + 15 MB whatever the length.
 */
export function stateBytes(
  shape: ModelShape,
  tokens: number,
  format: StateFormat,
  options: StateOptions = {},
): StateBytes {
  if (!(tokens >= 0)) throw new RangeError(`stateBytes: ${tokens} tokens; a sequence has 0 or more`);
  const { windows = 'kept', mtpLayers = 0, tensorWays = 1 } = options;
  const mixers = shape.layers.map((layer) => layer.attention);
  const last = mixers.findLast((attention) => attention !== null) ?? null;
  for (let i = 0; i < mtpLayers; i++) mixers.push(last);
  let cache = 0;
  let recurrent = 0;
  let conv = 0;
  for (const attention of mixers) {
    if (attention === null) continue;
    const share = stateShareOfRank(attention, tensorWays);
    const fixed = fixedStateElements(attention);
    cache += cacheElements(attention, tokens, windows) * share * BYTES_PER_ELEMENT[format];
    recurrent += fixed.recurrent * share * RECURRENT_BYTES;
    conv += fixed.conv * share * CONV_BYTES;
  }
  return { cache, recurrent, conv, total: cache + recurrent + conv };
}
