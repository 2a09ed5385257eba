/**
 * Kimi Delta Attention: a mixer along the sequence whose memory has a fixed size.
 *   q, k, v = SiLU(short convolution(x W)); q and k to unit length per head, q times dim^-1/2
 *   g = log decay per channel from a low-rank projection; beta = sigmoid(x Wbeta) per head
 *   o = gated delta rule(q, k, v, g, beta);  out = (RMSNorm per head(o) * sigmoid(x Wgate)) Wout
 * K3's kind: the output gate has full rank. Formulas: flash-linear-attention (kda/naive, kda/gate) and
 * NeMo Automodel's kimi_k3. Knows nothing about where its state is kept.
 */
import type { AttentionShape } from '@epsim/spec';
import { sigmoid } from '@epsim/tensor';
import { deltaChunkwise } from './delta-chunk.js';
import { type DeltaInputs, deltaRecurrent } from './delta-rule.js';
import { linear, rowCount } from './linear.js';
import { logDecay } from './log-decay.js';
import { rmsNorm } from './rms-norm.js';
import { shortConv } from './short-conv.js';

export type KdaShape = Extract<AttentionShape, { kind: 'kda' }>;

/** `inner` is heads * dim. */
export interface KdaWeights {
  /** [hidden x inner] */
  readonly query: Float32Array;
  readonly key: Float32Array;
  readonly value: Float32Array;
  /** [inner x convSize], the last tap on the token itself. */
  readonly queryConv: Float32Array;
  readonly keyConv: Float32Array;
  readonly valueConv: Float32Array;
  /** [hidden x gateRank] and [gateRank x inner] */
  readonly decayDown: Float32Array;
  readonly decayUp: Float32Array;
  /** Log of each head's decay rate, [heads]. */
  readonly decayLog: Float32Array;
  /** [inner] */
  readonly decayShift: Float32Array;
  /** [hidden x heads] */
  readonly beta: Float32Array;
  /** [hidden x inner] */
  readonly gate: Float32Array;
  /** Gain of the norm on each head's output, [dim]. */
  readonly norm: Float32Array;
  /** [inner x hidden] */
  readonly out: Float32Array;
}

/** What a sequence carries from token to token, of the same size whatever its length. */
export interface KdaState {
  /** [heads x dim x dim] */
  readonly memory: Float32Array;
  /** Last tokens before each convolution, [(convSize - 1) x inner]. */
  readonly queryHistory: Float32Array;
  readonly keyHistory: Float32Array;
  readonly valueHistory: Float32Array;
}

export function kdaState(shape: KdaShape): KdaState {
  const inner = shape.headCount * shape.headDim;
  const history = () => new Float32Array((shape.convSize - 1) * inner);
  return {
    memory: new Float32Array(inner * shape.headDim),
    queryHistory: history(),
    keyHistory: history(),
    valueHistory: history(),
  };
}

/** Each row of `dim` divided by its length (eps 1e-6 under the root), times `scale`; in place. */
export function unitRows(x: Float32Array, dim: number, scale: number): Float32Array {
  for (let from = 0; from < x.length; from += dim) {
    let squares = 0;
    for (let i = 0; i < dim; i++) squares += x[from + i] ** 2;
    const factor = scale / Math.sqrt(squares + 1e-6);
    for (let i = 0; i < dim; i++) x[from + i] *= factor;
  }
  return x;
}

/** Queries, keys, values, decays and strengths of x [tokens x hidden]; moves the convolutions' history on. */
export function kdaInputs(
  x: Float32Array,
  hidden: number,
  shape: KdaShape,
  w: KdaWeights,
  state: KdaState,
): DeltaInputs {
  const { headCount, headDim, gateRank, logDecayBound } = shape;
  const inner = headCount * headDim;
  const project = (weights: Float32Array) => linear(x, weights, hidden, inner);
  const query = shortConv(project(w.query), inner, w.queryConv, state.queryHistory);
  const key = shortConv(project(w.key), inner, w.keyConv, state.keyHistory);
  const decay = linear(linear(x, w.decayDown, hidden, gateRank), w.decayUp, gateRank, inner);
  for (let i = 0; i < decay.length; i++) {
    const channel = i % inner;
    const rate = w.decayLog[Math.floor(channel / headDim)];
    decay[i] = logDecay(decay[i] + w.decayShift[channel], rate, logDecayBound);
  }
  return {
    headCount,
    headDim,
    query: unitRows(query, headDim, headDim ** -0.5),
    key: unitRows(key, headDim, 1),
    value: shortConv(project(w.value), inner, w.valueConv, state.valueHistory),
    logDecay: decay,
    beta: linear(x, w.beta, hidden, headCount).map(sigmoid),
  };
}

/**
 * The mixer for the next tokens of a sequence, x [tokens x hidden]; returns [tokens x hidden] and moves `state` on.
 * `chunkTokens` null computes token by token; otherwise in chunks of that many.
 */
export function kda(
  x: Float32Array,
  hidden: number,
  shape: KdaShape,
  w: KdaWeights,
  state: KdaState,
  chunkTokens: number | null = null,
): Float32Array {
  const inner = shape.headCount * shape.headDim;
  const inputs = kdaInputs(x, hidden, shape, w, state);
  const read =
    chunkTokens === null
      ? deltaRecurrent(inputs, state.memory)
      : deltaChunkwise(inputs, state.memory, chunkTokens);
  const gate = linear(x, w.gate, hidden, inner);
  const normed = rmsNorm(read, w.norm);
  for (let i = 0; i < rowCount(x, hidden) * inner; i++) normed[i] *= sigmoid(gate[i]);
  return linear(normed, w.out, inner, hidden);
}
