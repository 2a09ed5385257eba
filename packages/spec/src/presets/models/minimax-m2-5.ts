/**
 * MiniMax-M2.5: 62 layers of 256 experts under plain grouped-query attention, in FP8.
 */
import { precisions } from '../../precision.js';
import { gqa, model, moe, stack } from './parts.js';
import { type PublishedCounts, WHOLE } from './published-counts.js';

const experts = moe({ expertCount: 256, topK: 8, expertWidth: 3072, expertInnerSize: 1536 });

const attention = gqa({ headCount: 48, kvHeadCount: 8, headDim: 128, qkNorm: true });

export const minimaxM25 = model({
  name: 'minimax-m2.5',
  source: 'config.json of MiniMaxAI/MiniMax-M2.5 on Hugging Face, as read in 2026-07',
  hiddenSize: 3072,
  vocabSize: 200_064,
  contextTokens: 196_608,
  layers: stack(62, () => ({ attention, ffn: experts })),
  moe: experts,
  mtpLayerCount: 3,
  precision: { routedExperts: precisions.fp8, rest: precisions.fp8 },
});

/** The released sizes give 228.7 B, 0.5 % less; the card says 230 B with 10 B active. */
export const minimaxM25Counts: PublishedCounts = {
  total: { figure: '229.9 B', holds: WHOLE },
  active: { figure: '9.8 B', holds: ['layers'] },
  source: 'MiniMax-M2 report, arXiv 2605.26494, 2026-05',
};
