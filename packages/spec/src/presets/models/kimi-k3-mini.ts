/**
 * Kimi K3's structure at widths that a laptop runs in plain loops: two groups of three delta-attention layers
 * and a global read, one more global read, depth blocks of 4 layers, latents of half the width, and 56 experts
 * for each one chosen. Words are the 95 printable ASCII characters and the line end.
 */
import { precisions } from '../../precision.js';
import { dense, mla, model, moe, stack } from './parts.js';

const experts = moe({
  expertCount: 112,
  topK: 2,
  expertWidth: 32,
  expertInnerSize: 32,
  latent: true,
  latentNorm: true,
  sharedExpertCount: 2,
  sharedInnerSize: 32,
});

const delta = {
  kind: 'kda',
  headCount: 4,
  headDim: 16,
  convSize: 4,
  gateRank: 8,
  fullRankOutputGate: true,
  logDecayBound: -5,
} as const;

const latentAttention = mla({
  headCount: 4,
  qLoraRank: 24,
  kvLoraRank: 16,
  nopeHeadDim: 12,
  ropeHeadDim: 4,
  valueHeadDim: 16,
  outputGate: true,
});

export const kimiK3Mini = model({
  name: 'kimi-k3-mini',
  source: 'kimi-k3 in miniature; every size is chosen here, none is published',
  hiddenSize: 64,
  vocabSize: 96,
  contextTokens: 4096,
  activation: 'situ',
  situ: { gateBound: 4, upBound: 25 },
  layers: stack(9, (index) => ({
    attention: (index + 1) % 4 === 0 || index === 8 ? latentAttention : delta,
    ffn: index === 0 ? dense(256) : experts,
  })),
  moe: experts,
  attnResBlockLayers: 4,
  vision: {
    layerCount: 2,
    hiddenSize: 32,
    innerSize: 64,
    headCount: 2,
    headDim: 16,
    patchSize: 4,
    mergeSize: 2,
    positionGrid: 8,
    projectorInnerSize: 128,
  },
  precision: { routedExperts: precisions.bf16, rest: precisions.bf16 },
});
