/**
 * Mixtral 8x7B: eight wide experts, top-2, nothing else.
 */
import { precisions } from '../../precision.js';
import { gqa, model, moe, stack } from './parts.js';
import { type PublishedCounts, WHOLE } from './published-counts.js';

const experts = moe({
  expertCount: 8,
  topK: 2,
  expertWidth: 4096,
  expertInnerSize: 14_336,
  scoring: 'softmax',
  selectionBias: false,
});

const attention = gqa({ headCount: 32, kvHeadCount: 8, headDim: 128 });

export const mixtral8x7b = model({
  name: 'mixtral-8x7b',
  source: 'config.json of mistralai/Mixtral-8x7B-v0.1 on Hugging Face, as read in 2026-07',
  hiddenSize: 4096,
  vocabSize: 32_000,
  contextTokens: 32_768,
  layers: stack(32, () => ({ attention, ffn: experts })),
  moe: experts,
  precision: { routedExperts: precisions.bf16, rest: precisions.bf16 },
  assumptions: ["router scores not stated: softmax assumed, as in the architecture's code"],
});

export const mixtral8x7bCounts: PublishedCounts = {
  total: { figure: '46.7 B', holds: WHOLE },
  active: { figure: '12.9 B', holds: WHOLE },
  source: '"Mixtral of experts", mistral.ai, 2023-12',
};
