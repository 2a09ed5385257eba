/**
 * The models that a scenario can name. A new one is a file beside this and a line here.
 */
import type { ModelShape } from '../../model-shape.js';
import { deepseekV3, deepseekV3Counts } from './deepseek-v3.js';
import { deepseekV32, deepseekV32Counts } from './deepseek-v3-2.js';
import { deepseekV4Flash, deepseekV4FlashCounts, deepseekV4Pro, deepseekV4ProCounts } from './deepseek-v4.js';
import { glm45, glm45Counts } from './glm-4-5.js';
import { glm5, glm5Counts } from './glm-5.js';
import { gptOss20b, gptOss20bCounts } from './gpt-oss-20b.js';
import { gptOss120b, gptOss120bCounts } from './gpt-oss-120b.js';
import { kimiK2, kimiK2Counts } from './kimi-k2.js';
import { kimiK25 } from './kimi-k2-5.js';
import { kimiK3, kimiK3Counts } from './kimi-k3.js';
import { kimiK3Mini } from './kimi-k3-mini.js';
import { kimiLinear48b, kimiLinear48bCounts } from './kimi-linear-48b-a3b.js';
import { llama4Maverick, llama4MaverickCounts } from './llama-4-maverick.js';
import { minimaxM25, minimaxM25Counts } from './minimax-m2-5.js';
import { minimaxM3, minimaxM3Counts } from './minimax-m3.js';
import { mixtral8x7b, mixtral8x7bCounts } from './mixtral-8x7b.js';
import { nemotron3Super, nemotron3SuperCounts } from './nemotron-3-super.js';
import { nemotron3Ultra, nemotron3UltraCounts } from './nemotron-3-ultra.js';
import type { PublishedCounts } from './published-counts.js';
import { qwen35397b, qwen35397bCounts } from './qwen3-5-397b-a17b.js';
import { qwen330b, qwen330bCounts } from './qwen3-30b-a3b.js';
import { qwen3235b, qwen3235bCounts } from './qwen3-235b-a22b.js';

export const modelPresets = {
  'kimi-k3': kimiK3,
  'kimi-k3-mini': kimiK3Mini,
  'kimi-k2': kimiK2,
  'kimi-k2.5': kimiK25,
  'kimi-linear-48b-a3b': kimiLinear48b,
  'deepseek-v3': deepseekV3,
  'deepseek-v3.2': deepseekV32,
  'deepseek-v4-pro': deepseekV4Pro,
  'deepseek-v4-flash': deepseekV4Flash,
  'qwen3-235b-a22b': qwen3235b,
  'qwen3-30b-a3b': qwen330b,
  'qwen3.5-397b-a17b': qwen35397b,
  'gpt-oss-120b': gptOss120b,
  'gpt-oss-20b': gptOss20b,
  'glm-4.5': glm45,
  'glm-5': glm5,
  'minimax-m2.5': minimaxM25,
  'minimax-m3': minimaxM3,
  'llama-4-maverick': llama4Maverick,
  'nemotron-3-super-120b-a12b': nemotron3Super,
  'nemotron-3-ultra-550b-a55b': nemotron3Ultra,
  'mixtral-8x7b': mixtral8x7b,
  /** The same sizes as V3. */
  'deepseek-r1': { ...deepseekV3, name: 'deepseek-r1' },
} as const satisfies Record<string, ModelShape>;

export type ModelPresetName = keyof typeof modelPresets;

/** Published counts of each preset; null where a preset is no published model. */
export const publishedCounts: Readonly<Record<ModelPresetName, PublishedCounts | null>> = {
  'kimi-k3': kimiK3Counts,
  'kimi-k3-mini': null,
  'kimi-k2': kimiK2Counts,
  'kimi-k2.5': kimiK2Counts,
  'kimi-linear-48b-a3b': kimiLinear48bCounts,
  'deepseek-v3': deepseekV3Counts,
  'deepseek-v3.2': deepseekV32Counts,
  'deepseek-v4-pro': deepseekV4ProCounts,
  'deepseek-v4-flash': deepseekV4FlashCounts,
  'qwen3-235b-a22b': qwen3235bCounts,
  'qwen3-30b-a3b': qwen330bCounts,
  'qwen3.5-397b-a17b': qwen35397bCounts,
  'gpt-oss-120b': gptOss120bCounts,
  'gpt-oss-20b': gptOss20bCounts,
  'glm-4.5': glm45Counts,
  'glm-5': glm5Counts,
  'minimax-m2.5': minimaxM25Counts,
  'minimax-m3': minimaxM3Counts,
  'llama-4-maverick': llama4MaverickCounts,
  'nemotron-3-super-120b-a12b': nemotron3SuperCounts,
  'nemotron-3-ultra-550b-a55b': nemotron3UltraCounts,
  'mixtral-8x7b': mixtral8x7bCounts,
  'deepseek-r1': deepseekV3Counts,
};
