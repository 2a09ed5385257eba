/**
 * DeepSeek-V3.2: V3 with a sparse-attention indexer that picks 2,048 tokens for each query.
 */
import { deepseekV3 } from './deepseek-v3.js';
import { mla, stack } from './parts.js';
import { MULTIPLIED, type PublishedCounts, WHOLE } from './published-counts.js';

const attention = mla({
  headCount: 128,
  qLoraRank: 1536,
  kvLoraRank: 512,
  nopeHeadDim: 128,
  ropeHeadDim: 64,
  valueHeadDim: 128,
  indexer: { headCount: 64, headDim: 128, topK: 2048 },
});

export const deepseekV32 = {
  ...deepseekV3,
  name: 'deepseek-v3.2',
  source: 'config.json of deepseek-ai/DeepSeek-V3.2 on Hugging Face, as read in 2026-07',
  layers: stack(61, (index) => ({ ...deepseekV3.layers[index], attention })),
};

/** The checkpoint holds the tables of its prediction layer once more (1.9 B). The active count is V3's: none is
 * published with the indexer, which adds 0.85 B. */
export const deepseekV32Counts: PublishedCounts = {
  total: { figure: '685 B', holds: [...WHOLE, 'prediction'] },
  active: { figure: '37 B', holds: MULTIPLIED },
  source: 'checkpoint of deepseek-ai/DeepSeek-V3.2 as Hugging Face counts it, and DeepSeek-V3, 2025-12',
};
