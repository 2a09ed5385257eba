/**
 * Stable LatentMoE (Kimi K3), one process, plain loops: the layer that the distributed run is held against.
 *   scores = sigmoid(x Wr); choose the top k of scores + bias; weights = scores / their sum
 *   z = x Wdown; y = sum over choices, in order, of weight * expert(z)
 *   out = RMSNorm(y) Wup + shared experts(x)
 * Its one idea: rows are projected to the narrow latent before they travel and come back there, so the
 * exchange costs half of what the hidden width would.
 * Knows nothing about ranks. Formulas: Kimi K3's published implementation in NeMo Automodel (KimiK3MoE).
 */
import { type MoeShape, NO_EXPERT } from '@epsim/spec';
import { axpyNaive, type Glu, sigmoid, topKNaive } from '@epsim/tensor';
import { type GluNetworkWeights, gluNetwork } from './glu-network.js';
import { addTo, linear, rowCount } from './linear.js';
import { rmsNorm } from './rms-norm.js';

export interface LatentMoeWeights {
  /** [hidden x experts] */
  readonly router: Float32Array;
  /** [experts]; added for selection only. */
  readonly selectionBias: Float32Array;
  /** Around the experts; null where they work at full width. */
  readonly latent: {
    /** [hidden x width] */
    readonly down: Float32Array;
    /** Gain of the RMSNorm on the combined latent, [width]; null where there is none. */
    readonly norm: Float32Array | null;
    /** [width x hidden] */
    readonly up: Float32Array;
  } | null;
  readonly experts: readonly GluNetworkWeights[];
  /** All shared experts as one network of their joint inner size; null where there is none. */
  readonly shared: GluNetworkWeights | null;
}

/** Experts of each token, best first, [tokens x topK], and their gate weights. */
export interface Choices {
  readonly experts: Int32Array;
  readonly weights: Float32Array;
}

/** Sigmoid scores [tokens x experts]. */
export function routerScores(
  x: Float32Array,
  router: Float32Array,
  hidden: number,
  expertCount: number,
): Float32Array {
  return linear(x, router, hidden, expertCount).map(sigmoid);
}

/**
 * The top k of scores + bias; gate weights from the scores alone, divided by their sum plus 1e-20 where the
 * model renormalises, times the routed scaling.
 */
export function chooseExperts(scores: Float32Array, bias: Float32Array, moe: MoeShape): Choices {
  const { expertCount, topK } = moe;
  const tokens = rowCount(scores, expertCount);
  const experts = new Int32Array(tokens * topK);
  const weights = new Float32Array(tokens * topK);
  for (let token = 0; token < tokens; token++) {
    const own = scores.subarray(token * expertCount, (token + 1) * expertCount);
    const chosen = topKNaive(
      own.map((score, expert) => score + bias[expert]),
      topK,
    );
    const total = moe.renormalize ? chosen.reduce((sum, expert) => sum + own[expert], 1e-20) : 1;
    chosen.forEach((expert, place) => {
      experts[token * topK + place] = expert;
      weights[token * topK + place] = (own[expert] / total) * moe.routedScaling;
    });
  }
  return { experts, weights };
}

/** The chosen experts of each token, one after another; choices of NO_EXPERT are left out. */
export function plainExperts(
  glu: Glu,
  experts: readonly GluNetworkWeights[],
  latents: Float32Array,
  width: number,
  choices: Choices,
  out: Float32Array,
): void {
  const tokens = rowCount(latents, width);
  const topK = choices.experts.length / Math.max(1, tokens);
  out.fill(0);
  for (let token = 0; token < tokens; token++) {
    const z = latents.subarray(token * width, (token + 1) * width);
    const y = out.subarray(token * width, (token + 1) * width);
    for (let choice = token * topK; choice < (token + 1) * topK; choice++) {
      const expert = choices.experts[choice];
      if (expert === NO_EXPERT) continue;
      axpyNaive(y, gluNetwork(glu, experts[expert], z, width), choices.weights[choice]);
    }
  }
}

/** The rows that travel to the experts: x Wdown [tokens x width], or x itself where there is no latent. */
export function moeLatents(
  x: Float32Array,
  hidden: number,
  width: number,
  weights: LatentMoeWeights,
): Float32Array {
  return weights.latent === null ? x : linear(x, weights.latent.down, hidden, width);
}

/** The layer's output from x [tokens x hidden] and the experts' weighted sums y [tokens x width]. */
export function moeOutput(
  x: Float32Array,
  y: Float32Array,
  hidden: number,
  width: number,
  glu: Glu,
  weights: LatentMoeWeights,
): Float32Array {
  const { latent, shared } = weights;
  const normed = latent?.norm ? rmsNorm(y, latent.norm) : y;
  const out = latent === null ? normed.slice() : linear(normed, latent.up, width, hidden);
  return shared === null ? out : addTo(out, gluNetwork(glu, shared, x, hidden));
}

/** The whole layer for x [tokens x hidden] and choices made beforehand; returns [tokens x hidden]. */
export function latentMoe(
  x: Float32Array,
  hidden: number,
  width: number,
  glu: Glu,
  weights: LatentMoeWeights,
  choices: Choices,
): Float32Array {
  const y = new Float32Array(rowCount(x, hidden) * width);
  plainExperts(glu, weights.experts, moeLatents(x, hidden, width, weights), width, choices, y);
  return moeOutput(x, y, hidden, width, glu, weights);
}
