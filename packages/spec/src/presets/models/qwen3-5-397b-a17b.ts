/**
 * Qwen3.5-397B-A17B: Gated DeltaNet in three layers of four, gated attention in the fourth.
 */
import { precisions } from '../../precision.js';
import { gqa, model, moe, stack } from './parts.js';
import { type PublishedCounts, WHOLE } from './published-counts.js';

const experts = moe({
  expertCount: 512,
  topK: 10,
  expertWidth: 4096,
  expertInnerSize: 1024,
  sharedExpertCount: 1,
  sharedInnerSize: 1024,
  scoring: 'softmax',
  selectionBias: false,
});

const delta = {
  kind: 'gated-delta-net',
  keyHeadCount: 16,
  valueHeadCount: 64,
  headDim: 128,
  convSize: 4,
} as const;

const attention = gqa({ headCount: 32, kvHeadCount: 2, headDim: 256, qkNorm: true, outputGate: true });

export const qwen35397b = model({
  name: 'qwen3.5-397b-a17b',
  source: 'text_config of Qwen/Qwen3.5-397B-A17B on Hugging Face, as read in 2026-07',
  hiddenSize: 4096,
  vocabSize: 248_320,
  contextTokens: 262_144,
  layers: stack(60, (index) => ({ attention: (index + 1) % 4 === 0 ? attention : delta, ffn: experts })),
  moe: experts,
  mtpLayerCount: 1,
  precision: { routedExperts: precisions.bf16, rest: precisions.bf16 },
  assumptions: [
    "router scores not stated: softmax assumed, as in the architecture's code",
    'the vision part is left out',
  ],
});

export const qwen35397bCounts: PublishedCounts = {
  total: { figure: '397 B', holds: WHOLE },
  active: { figure: '17 B', holds: WHOLE },
  source: 'model card of Qwen/Qwen3.5-397B-A17B, 2026-02',
};
