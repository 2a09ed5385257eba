/**
 * Qwen3-30B-A3B: experts in every layer, grouped-query attention, nothing shared.
 */
import { precisions } from '../../precision.js';
import { gqa, model, moe, stack } from './parts.js';
import { type PublishedCounts, WHOLE } from './published-counts.js';

const experts = moe({
  expertCount: 128,
  topK: 8,
  expertWidth: 2048,
  expertInnerSize: 768,
  scoring: 'softmax',
  selectionBias: false,
});

const attention = gqa({ headCount: 32, kvHeadCount: 4, headDim: 128, qkNorm: true });

export const qwen330b = model({
  name: 'qwen3-30b-a3b',
  source: 'config.json of Qwen/Qwen3-30B-A3B on Hugging Face, as read in 2026-07',
  hiddenSize: 2048,
  vocabSize: 151_936,
  contextTokens: 40_960,
  layers: stack(48, () => ({ attention, ffn: experts })),
  moe: experts,
  precision: { routedExperts: precisions.bf16, rest: precisions.bf16 },
  assumptions: ["router scores not stated: softmax assumed, as in the architecture's code"],
});

export const qwen330bCounts: PublishedCounts = {
  total: { figure: '30.5 B', holds: WHOLE },
  active: { figure: '3.3 B', holds: WHOLE, cut: true },
  source: 'model card of Qwen/Qwen3-30B-A3B, 2025-04',
};
