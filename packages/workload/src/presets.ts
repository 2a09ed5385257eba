/**
 * Workloads fitted to published imbalance of real models. Each names its source and the conditions it was seen
 * under; the fit itself is the skew that is asked for by outcome, so nothing here is a magic parameter.
 */
import { z } from 'zod';
import type { TopicOptions } from './scores/layer-scores.js';
import type { skewSchema } from './skew/index.js';

export interface WorkloadPreset {
  readonly source: string;
  readonly expertCount: number;
  readonly topK: number;
  readonly skew: z.output<typeof skewSchema>;
  readonly topics: TopicOptions;
}

export const presets = {
  'deepseek-r1-32': {
    source:
      'DeepSeek-R1 on 32 GB200, translation data, 256 tokens a rank: imbalance (max - mean) / mean of 10.948 over ' +
      'experts and 1.564 over ranks, deviation of expert loads 164.1 at a mean of 128 ' +
      '(TensorRT-LLM blog 4, Scaling Expert Parallelism, no EPLB)',
    expertCount: 256,
    topK: 8,
    skew: {
      kind: 'outcome',
      expertMaxOverMean: 11.948,
      rankMaxOverMean: 2.564,
      expertCv: 1.282,
      ranks: 32,
      tokensPerRank: 256,
    },
    // What a rank works on changes from step to step: set so that EPLB on 9 slots a rank, placed by earlier steps,
    // leaves about the published imbalance of 0.109 over ranks, where sampling alone would leave 0.05.
    topics: { count: 16, strength: 0.32, tokensPerRequest: 256 },
  },
  'kimi-k3-16': {
    source:
      'Kimi K3 on 16 ranks, GSM8K: median max / mean over ranks 1.069 (vLLM pull request 50647, no EPLB); ' +
      'the batch is not stated: 4,096 tokens a rank are assumed, since the 1.008 seen with EPLB ' +
      'is what sampling alone leaves at about 3,000',
    expertCount: 896,
    topK: 16,
    skew: { kind: 'outcome', rankMaxOverMean: 1.069, ranks: 16, tokensPerRank: 4096 },
    topics: { count: 16, strength: 0.1, tokensPerRequest: 1 },
  },
} as const satisfies Record<string, WorkloadPreset>;

export type PresetName = keyof typeof presets;
export const presetSchema = z.enum(Object.keys(presets) as [PresetName, ...PresetName[]]);
