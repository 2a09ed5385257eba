/**
 * Nemotron-3 Ultra 550B-A55B: Super with twice the width, 2048-wide latents and 108 layers.
 */
import { precisions } from '../../precision.js';
import { nemotronLayers } from './nemotron-3-super.js';
import { gqa, model, moe } from './parts.js';

const experts = moe({
  expertCount: 512,
  topK: 22,
  expertWidth: 2048,
  expertInnerSize: 5120,
  latent: true,
  sharedExpertCount: 1,
  sharedInnerSize: 10_240,
  routedScaling: 5,
  gated: false,
});

const mixer = {
  kind: 'mamba2',
  headCount: 256,
  headDim: 64,
  groupCount: 8,
  stateSize: 128,
  convSize: 4,
} as const;

const attention = gqa({ headCount: 64, kvHeadCount: 2, headDim: 128 });

export const nemotron3Ultra = model({
  name: 'nemotron-3-ultra-550b-a55b',
  source: 'model configurations of ai-dynamo/aiconfigurator at 095f58a5, as read in 2026-07',
  hiddenSize: 8192,
  vocabSize: 131_072,
  contextTokens: 262_144,
  activation: 'relu2',
  layers: nemotronLayers('MEMEMEM*E'.repeat(12), { mixer, attention, experts }),
  moe: experts,
  mtpLayerCount: 1,
  precision: { routedExperts: precisions.bf16, rest: precisions.bf16 },
  assumptions: [
    'the order of the 48 mixers, 48 layers of experts and 12 attentions is spread evenly, not as published',
    "the mixer has 256 heads in 8 groups: Super's ratios at twice the width",
    "router scores not stated: sigmoid assumed, as in the architecture's code",
  ],
});
