/**
 * Kimi K3: 896 experts, top-16, on 3584-wide latents; Kimi Delta Attention with gated latent attention
 * in every fourth layer and in the last two; block attention residuals; a vision tower.
 */
import { precisions } from '../../precision.js';
import { dense, mla, model, moe, stack } from './parts.js';
import { MULTIPLIED, type PublishedCounts, WHOLE } from './published-counts.js';

const experts = moe({
  expertCount: 896,
  topK: 16,
  expertWidth: 3584,
  expertInnerSize: 3072,
  latent: true,
  latentNorm: true,
  sharedExpertCount: 2,
  sharedInnerSize: 3072,
});

const delta = {
  kind: 'kda',
  headCount: 96,
  headDim: 128,
  convSize: 4,
  gateRank: 128,
  fullRankOutputGate: true,
  logDecayBound: -5,
} as const;

const latentAttention = mla({
  headCount: 96,
  qLoraRank: 1536,
  kvLoraRank: 512,
  nopeHeadDim: 128,
  ropeHeadDim: 64,
  valueHeadDim: 128,
  outputGate: true,
});

export const kimiK3 = model({
  name: 'kimi-k3',
  source: 'config.json of moonshotai/Kimi-K3 on Hugging Face, as read in 2026-07',
  hiddenSize: 7168,
  vocabSize: 163_840,
  contextTokens: 1_048_576,
  activation: 'situ',
  situ: { gateBound: 4, upBound: 25 },
  layers: stack(93, (index) => ({
    attention: (index + 1) % 4 === 0 || index === 92 ? latentAttention : delta,
    ffn: index === 0 ? dense(33_792) : experts,
  })),
  moe: experts,
  attnResBlockLayers: 12,
  vision: {
    layerCount: 27,
    hiddenSize: 1024,
    innerSize: 4096,
    headCount: 12,
    headDim: 128,
    patchSize: 14,
    mergeSize: 2,
    positionGrid: 64,
    projectorInnerSize: 4096,
  },
  precision: { routedExperts: precisions.mxfp4, rest: precisions.bf16 },
});

export const kimiK3Counts: PublishedCounts = {
  total: { figure: '2.78 T', holds: WHOLE },
  active: { figure: '104.2 B', holds: MULTIPLIED },
  source: 'Kimi K3 report, arXiv 2607.24653, 2026-07',
};
