/**
 * The architectures that can be read. A new one is a file beside this and a line here.
 */
import type { Family } from '../parts.js';
import { deepseek } from './deepseek.js';
import { deepseekV4 } from './deepseek-v4.js';
import { glm4 } from './glm4.js';
import { gptOss } from './gpt-oss.js';
import { kimiLinear } from './kimi-linear.js';
import { llama4 } from './llama4.js';
import { minimax } from './minimax.js';
import { mixtral } from './mixtral.js';
import { nemotronH } from './nemotron-h.js';
import { qwen3 } from './qwen3.js';
import { qwen35 } from './qwen3-5.js';

export const families = {
  deepseek,
  'deepseek-v4': deepseekV4,
  'kimi-linear': kimiLinear,
  qwen3,
  'qwen3.5': qwen35,
  mixtral,
  'gpt-oss': gptOss,
  glm4,
  minimax,
  llama4,
  'nemotron-h': nemotronH,
} as const satisfies Record<string, Family>;

/** The family that reads a `model_type`. */
export function familyOf(type: string | null): Family | undefined {
  return Object.values<Family>(families).find((family) => type !== null && family.modelTypes.includes(type));
}
