/**
 * Kimi K2: DeepSeek-V3's layer with 384 experts, half the heads, one dense layer and no expert groups.
 */
import { precisions } from '../../precision.js';
import { dense, mla, model, moe, stack } from './parts.js';
import { MULTIPLIED, type PublishedCounts, WHOLE } from './published-counts.js';

const experts = moe({
  expertCount: 384,
  topK: 8,
  expertWidth: 7168,
  expertInnerSize: 2048,
  sharedExpertCount: 1,
  sharedInnerSize: 2048,
  routedScaling: 2.827,
});

const attention = mla({
  headCount: 64,
  qLoraRank: 1536,
  kvLoraRank: 512,
  nopeHeadDim: 128,
  ropeHeadDim: 64,
  valueHeadDim: 128,
});

export const kimiK2 = model({
  name: 'kimi-k2',
  source: 'config.json of moonshotai/Kimi-K2-Instruct on Hugging Face, as read in 2026-07',
  hiddenSize: 7168,
  vocabSize: 163_840,
  contextTokens: 131_072,
  layers: stack(61, (index) => ({ attention, ffn: index === 0 ? dense(18_432) : experts })),
  moe: experts,
  precision: { routedExperts: precisions.fp8, rest: precisions.fp8 },
});

/** The report says 1.04 T, which the released sizes do not give: they are 1.026 T. */
export const kimiK2Counts: PublishedCounts = {
  total: { figure: '1 T', holds: WHOLE },
  active: { figure: '32 B', holds: MULTIPLIED },
  source: 'model card of moonshotai/Kimi-K2-Instruct, 2025-07',
};
