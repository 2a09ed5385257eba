/**
 * GLM-5: latent attention with a sparse indexer; 256 experts without groups.
 */
import { precisions } from '../../precision.js';
import { dense, mla, model, moe, stack } from './parts.js';
import { type PublishedCounts, WHOLE } from './published-counts.js';

const experts = moe({
  expertCount: 256,
  topK: 8,
  expertWidth: 6144,
  expertInnerSize: 2048,
  sharedExpertCount: 1,
  sharedInnerSize: 2048,
  routedScaling: 2.5,
});

const attention = mla({
  headCount: 64,
  qLoraRank: 2048,
  kvLoraRank: 512,
  nopeHeadDim: 192,
  ropeHeadDim: 64,
  valueHeadDim: 256,
  indexer: { headCount: 32, headDim: 128, topK: 2048 },
});

export const glm5 = model({
  name: 'glm-5',
  source:
    'config.json of nvidia/GLM-5-NVFP4 on Hugging Face, as read in 2026-07; precision of the BF16 release',
  hiddenSize: 6144,
  vocabSize: 154_880,
  contextTokens: 202_752,
  layers: stack(78, (index) => ({ attention, ffn: index < 3 ? dense(12_288) : experts })),
  moe: experts,
  mtpLayerCount: 1,
  precision: { routedExperts: precisions.bf16, rest: precisions.bf16 },
});

/** The report says that its total holds the prediction layer and no tables; the sizes give it the other way round. */
export const glm5Counts: PublishedCounts = {
  total: { figure: '744 B', holds: WHOLE },
  active: { figure: '40 B', holds: ['layers'] },
  source: 'GLM-5 report, arXiv 2602.15763, 2026-02',
};
