/**
 * GLM-4.5 (355B): DeepSeek's layer of experts under grouped-query attention with biases.
 */
import { precisions } from '../../precision.js';
import { dense, gqa, model, moe, stack } from './parts.js';
import type { PublishedCounts } from './published-counts.js';

const experts = moe({
  expertCount: 160,
  topK: 8,
  expertWidth: 5120,
  expertInnerSize: 1536,
  sharedExpertCount: 1,
  sharedInnerSize: 1536,
  routedScaling: 2.5,
});

const attention = gqa({ headCount: 96, kvHeadCount: 8, headDim: 128, bias: true, qkNorm: true });

export const glm45 = model({
  name: 'glm-4.5',
  source:
    "GLM-4.5 report, arXiv 2508.06471, table 1, and glm4.5-355B-A32B.sh of THUDM/slime, its makers' training code, as read in 2026-11",
  hiddenSize: 5120,
  vocabSize: 151_552,
  contextTokens: 131_072,
  layers: stack(92, (index) => ({ attention, ffn: index < 3 ? dense(12_288) : experts })),
  moe: experts,
  mtpLayerCount: 1,
  precision: { routedExperts: precisions.bf16, rest: precisions.bf16 },
});

/** The report counts the prediction layer, and neither word embeddings nor the output layer. */
export const glm45Counts: PublishedCounts = {
  total: { figure: '355 B', holds: ['layers', 'prediction'] },
  active: { figure: '32 B', holds: ['layers'] },
  source: 'GLM-4.5 report, arXiv 2508.06471, table 1, 2025-08',
};
