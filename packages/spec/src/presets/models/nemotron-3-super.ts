/**
 * Nemotron-3 Super 120B-A12B: Mamba-2 mixers and experts on 1024-wide latents, with attention in 8 of 88 layers.
 */
import type { LayerShape, MoeShape } from '../../model-shape.js';
import { precisions } from '../../precision.js';
import { gqa, model, moe } from './parts.js';
import { type PublishedCounts, WHOLE } from './published-counts.js';

const experts = moe({
  expertCount: 512,
  topK: 22,
  expertWidth: 1024,
  expertInnerSize: 2688,
  latent: true,
  sharedExpertCount: 1,
  sharedInnerSize: 5376,
  routedScaling: 5,
  gated: false,
});

const mixer = {
  kind: 'mamba2',
  headCount: 128,
  headDim: 64,
  groupCount: 8,
  stateSize: 128,
  convSize: 4,
} as const;

const attention = gqa({ headCount: 32, kvHeadCount: 2, headDim: 128 });

/** One layer for each letter: M a mixer, E experts, * attention. */
export function nemotronLayers(
  pattern: string,
  parts: {
    readonly mixer: LayerShape['attention'];
    readonly attention: LayerShape['attention'];
    readonly experts: MoeShape;
  },
): readonly LayerShape[] {
  return [...pattern].map((letter) => ({
    attention: letter === 'M' ? parts.mixer : letter === '*' ? parts.attention : null,
    ffn: letter === 'E' ? parts.experts : null,
  }));
}

export const nemotron3Super = model({
  name: 'nemotron-3-super-120b-a12b',
  source: 'config.json of nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-FP8 on Hugging Face, as read in 2026-07',
  hiddenSize: 4096,
  vocabSize: 131_072,
  contextTokens: 262_144,
  activation: 'relu2',
  layers: nemotronLayers(
    'MEMEMEM*EMEMEMEM*EMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEM*EMEMEMEME',
    { mixer, attention, experts },
  ),
  moe: experts,
  mtpLayerCount: 1,
  precision: { routedExperts: precisions.bf16, rest: precisions.bf16 },
  assumptions: ["router scores not stated: sigmoid assumed, as in the architecture's code"],
});

export const nemotron3SuperCounts: PublishedCounts = {
  total: { figure: '120.6 B', holds: WHOLE, cut: true },
  active: { figure: '12.7 B', holds: WHOLE, cut: true },
  source: 'Nemotron 3 Super report, arXiv 2604.12374, 2026-04',
};
