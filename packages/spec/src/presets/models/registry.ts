/**
 * The models that a scenario can name. A new one is a file beside this and a line here.
 */
import type { ModelShape } from '../../model-shape.js';
import { deepseekV3 } from './deepseek-v3.js';
import { kimiK2 } from './kimi-k2.js';
import { kimiK3 } from './kimi-k3.js';
import { kimiK3Mini } from './kimi-k3-mini.js';

export const modelPresets = {
  'kimi-k3': kimiK3,
  'kimi-k2': kimiK2,
  'deepseek-v3': deepseekV3,
  'kimi-k3-mini': kimiK3Mini,
} as const satisfies Record<string, ModelShape>;

export type ModelPresetName = keyof typeof modelPresets;
