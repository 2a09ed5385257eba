/**
 * Qwen3-235B-A22B: experts in every layer, grouped-query attention, nothing shared.
 */
import { precisions } from '../../precision.js';
import { gqa, model, moe, stack } from './parts.js';
import { type PublishedCounts, WHOLE } from './published-counts.js';

const experts = moe({
  expertCount: 128,
  topK: 8,
  expertWidth: 4096,
  expertInnerSize: 1536,
  scoring: 'softmax',
  selectionBias: false,
});

const attention = gqa({ headCount: 64, kvHeadCount: 4, headDim: 128, qkNorm: true });

export const qwen3235b = model({
  name: 'qwen3-235b-a22b',
  source: 'config.json of Qwen/Qwen3-235B-A22B on Hugging Face, as read in 2026-07',
  hiddenSize: 4096,
  vocabSize: 151_936,
  contextTokens: 40_960,
  layers: stack(94, () => ({ attention, ffn: experts })),
  moe: experts,
  precision: { routedExperts: precisions.bf16, rest: precisions.bf16 },
  assumptions: ["router scores not stated: softmax assumed, as in the architecture's code"],
});

export const qwen3235bCounts: PublishedCounts = {
  total: { figure: '235 B', holds: WHOLE },
  active: { figure: '22 B', holds: WHOLE },
  source: 'model card of Qwen/Qwen3-235B-A22B, 2025-04',
};
