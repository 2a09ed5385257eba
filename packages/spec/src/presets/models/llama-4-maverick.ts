/**
 * Llama 4 Maverick: one expert of 128 and a shared one in every second layer; the others are dense and twice as wide.
 */
import { precisions } from '../../precision.js';
import { dense, gqa, model, moe, stack } from './parts.js';
import { type PublishedCounts, WHOLE } from './published-counts.js';

const experts = moe({
  expertCount: 128,
  topK: 1,
  expertWidth: 5120,
  expertInnerSize: 8192,
  sharedExpertCount: 1,
  sharedInnerSize: 8192,
  // With one expert a renormalised gate would always be 1.
  renormalize: false,
  selectionBias: false,
});

const full = gqa({ headCount: 40, kvHeadCount: 8, headDim: 128 });
const chunked = { ...full, windowTokens: 8192 };

export const llama4Maverick = model({
  name: 'llama-4-maverick',
  source: 'config.json of meta-llama/Llama-4-Maverick-17B-128E-Instruct on Hugging Face, as read in 2026-07',
  hiddenSize: 5120,
  vocabSize: 202_048,
  contextTokens: 1_048_576,
  layers: stack(48, (index) => ({
    attention: (index + 1) % 4 === 0 ? full : chunked,
    ffn: index % 2 === 1 ? experts : dense(16_384),
  })),
  moe: experts,
  precision: { routedExperts: precisions.bf16, rest: precisions.bf16 },
  assumptions: [
    "router scores not stated: sigmoid assumed, as in the architecture's code",
    'attention in chunks of 8192 tokens is counted as a window of that size',
    'the vision part is of a layout that is not known and left out',
  ],
});

export const llama4MaverickCounts: PublishedCounts = {
  total: { figure: '400 B', holds: WHOLE },
  active: { figure: '17 B', holds: WHOLE },
  source: 'model card of meta-llama/Llama-4-Maverick-17B-128E-Instruct, 2025-04',
};
