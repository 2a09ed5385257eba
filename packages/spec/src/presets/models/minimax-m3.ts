/**
 * MiniMax-M3: fewer and wider experts than M2.5, top-4, one shared, block-sparse attention after three dense layers.
 */
import { precisions } from '../../precision.js';
import { dense, gqa, model, moe, stack } from './parts.js';
import { type PublishedCounts, WHOLE } from './published-counts.js';

const experts = moe({
  expertCount: 128,
  topK: 4,
  expertWidth: 6144,
  expertInnerSize: 3072,
  sharedExpertCount: 1,
  sharedInnerSize: 3072,
  routedScaling: 2,
});

const attention = gqa({ headCount: 64, kvHeadCount: 4, headDim: 128, qkNorm: true });

export const minimaxM3 = model({
  name: 'minimax-m3',
  source: 'text_config of MiniMaxAI/MiniMax-M3 on Hugging Face, as read in 2026-07',
  hiddenSize: 6144,
  vocabSize: 200_064,
  contextTokens: 1_048_576,
  layers: stack(60, (index) => ({ attention, ffn: index < 3 ? dense(12_288) : experts })),
  moe: experts,
  precision: { routedExperts: precisions.bf16, rest: precisions.bf16 },
  assumptions: [
    'activations are clamped at 7 in the model, which is left out',
    'sparse attention is counted as attention over the whole prefix',
    'the vision part and extra prediction layers are left out',
  ],
});

/** "About" in the source, for the whole model: vision and the block indexer of its attention are not in the sizes here. */
export const minimaxM3Counts: PublishedCounts = {
  total: { figure: '428 B', holds: WHOLE },
  active: { figure: '23 B', holds: ['layers'] },
  source: 'model card of MiniMaxAI/MiniMax-M3 as repeated by unsloth/MiniMax-M3, 2026-06',
};
