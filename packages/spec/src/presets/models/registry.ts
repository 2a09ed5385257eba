/**
 * The models that a scenario can name. A new one is a file beside this and a line here.
 */
import type { ModelShape } from '../../model-shape.js';
import { deepseekV3 } from './deepseek-v3.js';
import { deepseekV32 } from './deepseek-v3-2.js';
import { deepseekV4Flash, deepseekV4Pro } from './deepseek-v4.js';
import { glm45 } from './glm-4-5.js';
import { glm5 } from './glm-5.js';
import { gptOss20b } from './gpt-oss-20b.js';
import { gptOss120b } from './gpt-oss-120b.js';
import { kimiK2 } from './kimi-k2.js';
import { kimiK25 } from './kimi-k2-5.js';
import { kimiK3 } from './kimi-k3.js';
import { kimiK3Mini } from './kimi-k3-mini.js';
import { kimiLinear48b } from './kimi-linear-48b-a3b.js';
import { llama4Maverick } from './llama-4-maverick.js';
import { minimaxM25 } from './minimax-m2-5.js';
import { minimaxM3 } from './minimax-m3.js';
import { mixtral8x7b } from './mixtral-8x7b.js';
import { nemotron3Super } from './nemotron-3-super.js';
import { nemotron3Ultra } from './nemotron-3-ultra.js';
import { qwen35397b } from './qwen3-5-397b-a17b.js';
import { qwen330b } from './qwen3-30b-a3b.js';
import { qwen3235b } from './qwen3-235b-a22b.js';

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
