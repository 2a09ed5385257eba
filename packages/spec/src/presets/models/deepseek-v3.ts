/**
 * DeepSeek-V3 and R1, which share every size: 256 experts in 8 groups of which a token may use 4.
 */
import { precisions } from '../../precision.js';
import { dense, mla, model, moe, stack } from './parts.js';
import { MULTIPLIED, type PublishedCounts, WHOLE } from './published-counts.js';

const experts = moe({
  expertCount: 256,
  topK: 8,
  expertWidth: 7168,
  expertInnerSize: 2048,
  sharedExpertCount: 1,
  sharedInnerSize: 2048,
  routedScaling: 2.5,
  groupCount: 8,
  topGroupCount: 4,
});

const attention = mla({
  headCount: 128,
  qLoraRank: 1536,
  kvLoraRank: 512,
  nopeHeadDim: 128,
  ropeHeadDim: 64,
  valueHeadDim: 128,
});

export const deepseekV3 = model({
  name: 'deepseek-v3',
  source: 'config.json of deepseek-ai/DeepSeek-V3 on Hugging Face, as read in 2026-07',
  hiddenSize: 7168,
  vocabSize: 129_280,
  contextTokens: 163_840,
  layers: stack(61, (index) => ({ attention, ffn: index < 3 ? dense(18_432) : experts })),
  moe: experts,
  mtpLayerCount: 1,
  precision: { routedExperts: precisions.fp8, rest: precisions.fp8 },
});

/** Rounded to 37 B elsewhere. The source says that 36.7 B holds the input embedding too; the sizes give it without. */
export const deepseekV3Counts: PublishedCounts = {
  total: { figure: '671 B', holds: WHOLE },
  active: { figure: '36.7 B', holds: MULTIPLIED },
  source: 'README_WEIGHTS.md of deepseek-ai/DeepSeek-V3, 2024-12',
};
