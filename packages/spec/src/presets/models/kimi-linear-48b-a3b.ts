/**
 * Kimi-Linear-48B-A3B: the smaller ancestor of K3, with experts at full width and a low-rank output gate.
 */
import { precisions } from '../../precision.js';
import { dense, mla, model, moe, stack } from './parts.js';

const experts = moe({
  expertCount: 256,
  topK: 8,
  expertWidth: 2304,
  expertInnerSize: 1024,
  sharedExpertCount: 1,
  sharedInnerSize: 1024,
  routedScaling: 2.446,
});

const delta = {
  kind: 'kda',
  headCount: 32,
  headDim: 128,
  convSize: 4,
  gateRank: 128,
  fullRankOutputGate: false,
  logDecayBound: null,
} as const;

const latentAttention = mla({
  headCount: 32,
  qLoraRank: null,
  kvLoraRank: 512,
  nopeHeadDim: 128,
  ropeHeadDim: 64,
  valueHeadDim: 128,
});

export const kimiLinear48b = model({
  name: 'kimi-linear-48b-a3b',
  source: 'defaults of kimi_linear.py in ml-explore/mlx-lm, as read in 2026-07',
  hiddenSize: 2304,
  vocabSize: 163_840,
  contextTokens: 1_048_576,
  layers: stack(27, (index) => ({
    attention: (index + 1) % 4 === 0 || index === 26 ? latentAttention : delta,
    ffn: index === 0 ? dense(9216) : experts,
  })),
  moe: experts,
  precision: { routedExperts: precisions.bf16, rest: precisions.bf16 },
  assumptions: ['which 7 of the 27 layers are latent attention is inferred: every fourth, and the last'],
});
