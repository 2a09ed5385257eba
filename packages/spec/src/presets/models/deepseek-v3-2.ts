/**
 * DeepSeek-V3.2: V3 with a sparse-attention indexer that picks 2,048 tokens for each query.
 */
import { deepseekV3 } from './deepseek-v3.js';
import { mla, stack } from './parts.js';

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
