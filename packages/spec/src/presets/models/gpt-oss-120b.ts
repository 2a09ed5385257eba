/**
 * gpt-oss-120b: biases everywhere, a window of 128 tokens in every second layer, experts in MXFP4.
 */
import type { ModelShape } from '../../model-shape.js';
import { precisions } from '../../precision.js';
import { gqa, model, moe, stack } from './parts.js';
import { MULTIPLIED, type PublishedCounts, WHOLE } from './published-counts.js';

const windowed = gqa({
  headCount: 64,
  kvHeadCount: 8,
  headDim: 64,
  windowTokens: 128,
  bias: true,
  sinks: true,
});

/** The family's two models differ in layers and experts only. */
export function gptOss(name: string, layerCount: number, expertCount: number): ModelShape {
  const experts = moe({
    expertCount,
    topK: 4,
    expertWidth: 2880,
    expertInnerSize: 2880,
    scoring: 'softmax-over-top-k',
    selectionBias: false,
    bias: true,
  });
  return model({
    name,
    source: `config.json of openai/${name} on Hugging Face, as read in 2026-07`,
    hiddenSize: 2880,
    vocabSize: 201_088,
    contextTokens: 131_072,
    layers: stack(layerCount, (index) => ({
      attention: index % 2 === 0 ? windowed : { ...windowed, windowTokens: null },
      ffn: experts,
    })),
    moe: experts,
    precision: { routedExperts: precisions.mxfp4, rest: precisions.bf16 },
    assumptions: [
      "router scores not stated: softmax-over-top-k assumed, as in the architecture's code",
      'activations are clamped at 7 in the model, which is left out',
    ],
  });
}

export const gptOss120b = gptOss('gpt-oss-120b', 36, 128);

/** The card counts the unembedding as active and the embedding not. */
export const gptOss120bCounts: PublishedCounts = {
  total: { figure: '116.83 B', holds: WHOLE },
  active: { figure: '5.13 B', holds: MULTIPLIED },
  source: 'gpt-oss model card, OpenAI, 2025-08',
};
