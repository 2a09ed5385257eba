/**
 * Nemotron-3 Ultra 550B-A55B: Super with twice the width, 2048-wide latents and 108 layers.
 */
import { precisions } from '../../precision.js';
import { nemotronLayers } from './nemotron-3-super.js';
import { gqa, model, moe } from './parts.js';
import { MULTIPLIED, type PublishedCounts, WHOLE } from './published-counts.js';

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

/** Attention in layers 7, 14, 23, 32, 39, 48, 57, 64, 73, 82, 89 and 98; between them M and E by turns. */
const PATTERN =
  'MEMEMEM*EMEMEM*EMEMEMEM*EMEMEMEM*EMEMEM*EMEMEMEM*EMEMEMEM*EMEMEM*EMEMEMEM*EMEMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME';

export const nemotron3Ultra = model({
  name: 'nemotron-3-ultra-550b-a55b',
  source:
    'config.json of nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-BF16 as repeated by public tools (sizes; layers of attention), as read in 2026-11',
  hiddenSize: 8192,
  vocabSize: 131_072,
  contextTokens: 262_144,
  activation: 'relu2',
  layers: nemotronLayers(PATTERN, { mixer, attention, experts }),
  moe: experts,
  mtpLayerCount: 1,
  precision: { routedExperts: precisions.bf16, rest: precisions.bf16 },
  assumptions: ["router scores not stated: sigmoid assumed, as in the architecture's code"],
});

export const nemotron3UltraCounts: PublishedCounts = {
  total: { figure: '550 B', holds: WHOLE },
  active: { figure: '55 B', holds: MULTIPLIED },
  source: 'Nemotron 3 Ultra report, arXiv 2606.15007, 2026-06',
};
