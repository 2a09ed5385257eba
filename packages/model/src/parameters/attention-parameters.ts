/**
 * Tensors of each kind of token mixer, as checkpoints store them.
 * The one idea: a mixer is a short list of matrices whose sizes follow from its shape alone.
 * Knows nothing of the layers around it; its pre-norm belongs to the layer.
 */
import type { AttentionShape } from '@epsim/spec';
import type { TensorSize, TensorSplit } from './tensor-entry.js';

type Mla = Extract<AttentionShape, { kind: 'mla' }>;
type Gqa = Extract<AttentionShape, { kind: 'gqa' }>;
type SharedKvMqa = Extract<AttentionShape, { kind: 'shared-kv-mqa' }>;
type Kda = Extract<AttentionShape, { kind: 'kda' }>;
type GatedDeltaNet = Extract<AttentionShape, { kind: 'gated-delta-net' }>;
type Mamba2 = Extract<AttentionShape, { kind: 'mamba2' }>;

/** A matrix that quantised checkpoints quantise. */
function matrix(name: string, elements: number, split: TensorSplit = 'tensor'): TensorSize {
  return { name, tensorClass: 'attention', elements, split, plain: false };
}

/** A vector or small kernel that stays in 16 bits. */
function vector(name: string, elements: number, split: TensorSplit = 'tensor'): TensorSize {
  return { name, tensorClass: 'attention', elements, split, plain: true };
}

/** Low-rank projections are whole on every tensor-parallel rank; per-head ones are cut by heads. */
function mlaTensors(a: Mla, hidden: number): TensorSize[] {
  const queryWidth = a.headCount * (a.nopeHeadDim + a.ropeHeadDim);
  const valueWidth = a.headCount * a.valueHeadDim;
  const query =
    a.qLoraRank === null
      ? [matrix('q', hidden * queryWidth)]
      : [
          matrix('q_down', hidden * a.qLoraRank, 'replicated'),
          vector('q_norm', a.qLoraRank, 'replicated'),
          matrix('q_up', a.qLoraRank * queryWidth),
        ];
  return [
    ...query,
    matrix('kv_down', hidden * (a.kvLoraRank + a.ropeHeadDim), 'replicated'),
    vector('kv_norm', a.kvLoraRank, 'replicated'),
    matrix('kv_up', a.kvLoraRank * a.headCount * (a.nopeHeadDim + a.valueHeadDim)),
    matrix('out', valueWidth * hidden),
    ...(a.outputGate ? [matrix('gate', hidden * valueWidth)] : []),
    ...indexerTensors(a, hidden),
  ];
}

/** The sparse-attention indexer: per-head queries, one shared key with a LayerNorm, one weight per head. */
function indexerTensors(a: Mla, hidden: number): TensorSize[] {
  if (a.indexer === null) return [];
  const { headCount, headDim } = a.indexer;
  return [
    matrix('indexer_q', (a.qLoraRank ?? hidden) * headCount * headDim, 'replicated'),
    matrix('indexer_k', hidden * headDim, 'replicated'),
    vector('indexer_k_norm', 2 * headDim, 'replicated'),
    vector('indexer_weights', hidden * headCount, 'replicated'),
  ];
}

function gqaTensors(a: Gqa, hidden: number): TensorSize[] {
  const queryWidth = a.headCount * a.headDim;
  const kvWidth = a.kvHeadCount * a.headDim;
  return [
    matrix('q', hidden * queryWidth),
    matrix('k', hidden * kvWidth),
    matrix('v', hidden * kvWidth),
    matrix('out', queryWidth * hidden),
    ...(a.outputGate ? [matrix('gate', hidden * queryWidth)] : []),
    ...(a.bias ? [vector('bias', queryWidth + 2 * kvWidth + hidden)] : []),
    ...(a.qkNorm ? [vector('qk_norm', 2 * a.headDim, 'replicated')] : []),
    ...(a.sinks ? [vector('sinks', a.headCount)] : []),
  ];
}

/**
 * Width of what a compressor computes of each token for an entry of `headDim`: overlapping blocks have one half for
 * their own block and one for the next.
 */
function compressorWidth({ overlapping }: { readonly overlapping: boolean }, headDim: number): number {
  return (overlapping ? 2 : 1) * headDim;
}

/** Pools the tokens of a block into one entry: values, gates, a bias per position of the block, and a norm. */
function compressorTensors(
  name: string,
  compression: NonNullable<SharedKvMqa['compression']>,
  headDim: number,
  hidden: number,
): TensorSize[] {
  const width = compressorWidth(compression, headDim);
  return [
    matrix(`${name}_kv`, hidden * width, 'replicated'),
    matrix(`${name}_gate`, hidden * width, 'replicated'),
    vector(`${name}_positions`, compression.ratio * width, 'replicated'),
    vector(`${name}_norm`, headDim, 'replicated'),
  ];
}

/** One key-value for all heads, so it is whole on every tensor-parallel rank; queries and outputs are cut by heads. */
function sharedKvMqaTensors(a: SharedKvMqa, hidden: number): TensorSize[] {
  const width = a.headCount * a.headDim;
  const { compression } = a;
  const indexer = compression?.indexer ?? null;
  return [
    matrix('q_down', hidden * a.qLoraRank, 'replicated'),
    vector('q_norm', a.qLoraRank, 'replicated'),
    matrix('q_up', a.qLoraRank * width),
    matrix('kv', hidden * a.headDim, 'replicated'),
    vector('kv_norm', a.headDim, 'replicated'),
    vector('sinks', a.headCount),
    matrix('out_down', width * a.outputLoraRank),
    matrix('out_up', a.outputGroupCount * a.outputLoraRank * hidden),
    ...(compression === null ? [] : compressorTensors('compressor', compression, a.headDim, hidden)),
    ...(compression === null || indexer === null
      ? []
      : [
          matrix('indexer_q', a.qLoraRank * indexer.headCount * indexer.headDim, 'replicated'),
          ...compressorTensors('indexer', compression, indexer.headDim, hidden),
          vector('indexer_weights', hidden * indexer.headCount, 'replicated'),
        ]),
  ];
}

function kdaTensors(a: Kda, hidden: number): TensorSize[] {
  const width = a.headCount * a.headDim;
  const outputGate = a.fullRankOutputGate
    ? [matrix('gate', hidden * width)]
    : [matrix('gate_down', hidden * a.gateRank, 'replicated'), matrix('gate_up', a.gateRank * width)];
  return [
    matrix('q', hidden * width),
    matrix('k', hidden * width),
    matrix('v', hidden * width),
    vector('conv', 3 * width * a.convSize),
    matrix('forget_down', hidden * a.gateRank, 'replicated'),
    matrix('forget_up', a.gateRank * width),
    vector('forget_bias', width),
    vector('log_decay', a.headCount),
    matrix('beta', hidden * a.headCount),
    ...outputGate,
    vector('out_norm', a.headDim, 'replicated'),
    matrix('out', width * hidden),
  ];
}

function gatedDeltaNetTensors(a: GatedDeltaNet, hidden: number): TensorSize[] {
  const keyWidth = a.keyHeadCount * a.headDim;
  const valueWidth = a.valueHeadCount * a.headDim;
  return [
    matrix('q', hidden * keyWidth),
    matrix('k', hidden * keyWidth),
    matrix('v', hidden * valueWidth),
    matrix('gate', hidden * valueWidth),
    matrix('beta_decay', hidden * 2 * a.valueHeadCount),
    vector('conv', (2 * keyWidth + valueWidth) * a.convSize),
    vector('decay', 2 * a.valueHeadCount),
    vector('out_norm', a.headDim, 'replicated'),
    matrix('out', valueWidth * hidden),
  ];
}

function mamba2Tensors(a: Mamba2, hidden: number): TensorSize[] {
  const inner = a.headCount * a.headDim;
  const channels = inner + 2 * a.groupCount * a.stateSize;
  return [
    matrix('in', hidden * (inner + channels + a.headCount)),
    vector('conv', channels * (a.convSize + 1)),
    vector('decay', 3 * a.headCount),
    vector('out_norm', inner),
    matrix('out', inner * hidden),
  ];
}

/** Every tensor of one mixer, its pre-norm apart. `hidden` is the width of the residual stream. */
export function attentionTensors(attention: AttentionShape, hidden: number): readonly TensorSize[] {
  switch (attention.kind) {
    case 'mla':
      return mlaTensors(attention, hidden);
    case 'gqa':
      return gqaTensors(attention, hidden);
    case 'shared-kv-mqa':
      return sharedKvMqaTensors(attention, hidden);
    case 'kda':
      return kdaTensors(attention, hidden);
    case 'gated-delta-net':
      return gatedDeltaNetTensors(attention, hidden);
    case 'mamba2':
      return mamba2Tensors(attention, hidden);
  }
}
