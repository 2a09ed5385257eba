/**
 * Kimi-Linear-48B-A3B: the smaller ancestor of K3, with experts at full width and a low-rank output gate.
 */
import { precisions } from '../../precision.js';
import { dense, mla, model, moe, stack } from './parts.js';
import type { PublishedCounts } from './published-counts.js';

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
  source:
    'config.json of moonshotai/Kimi-Linear-48B-A3B-Instruct at 6e163f3, as repeated in tests of public loaders and read in 2026-11',
  hiddenSize: 2304,
  vocabSize: 163_840,
  contextTokens: 1_048_576,
  layers: stack(27, (index) => ({
    attention: (index + 1) % 4 === 0 || index === 26 ? latentAttention : delta,
    ffn: index === 0 ? dense(9216) : experts,
  })),
  moe: experts,
  precision: { routedExperts: precisions.bf16, rest: precisions.bf16 },
});

/** The name counts neither table of the vocabulary; with both the model has 49.1 B. */
export const kimiLinear48bCounts: PublishedCounts = {
  total: { figure: '48 B', holds: ['layers'] },
  active: { figure: '3 B', holds: ['layers'] },
  source: 'README of MoonshotAI/Kimi-Linear, 2025-10',
};
