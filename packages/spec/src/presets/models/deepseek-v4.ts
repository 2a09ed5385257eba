/**
 * DeepSeek-V4, Pro and Flash: attention over a window of 128 tokens and compressed blocks of older ones, by turns of 4
 * tokens with an indexer and of 128 without; FP4 experts, top-6, in every layer; four residual streams.
 */
import type { ModelShape } from '../../model-shape.js';
import { precisions } from '../../precision.js';
import { model, moe, type SharedKvMqa, stack } from './parts.js';
import { MULTIPLIED, type PublishedCounts, WHOLE } from './published-counts.js';

/** The sizes that differ between the two; the rest is the family's. */
interface Sizes {
  readonly name: string;
  readonly hiddenSize: number;
  readonly headCount: number;
  readonly qLoraRank: number;
  readonly outputGroupCount: number;
  readonly indexTopK: number;
  readonly expertCount: number;
  readonly expertInnerSize: number;
  readonly routedScaling: number;
  readonly layerCount: number;
  /** Tokens of a block in the first two layers; 0 for the window alone. */
  readonly firstRatio: 0 | 128;
}

function deepseekV4(sizes: Sizes): ModelShape {
  const { hiddenSize, headCount, qLoraRank, outputGroupCount, layerCount } = sizes;
  const experts = moe({
    expertCount: sizes.expertCount,
    topK: 6,
    expertWidth: hiddenSize,
    expertInnerSize: sizes.expertInnerSize,
    sharedExpertCount: 1,
    sharedInnerSize: sizes.expertInnerSize,
    scoring: 'sqrt-softplus',
    routedScaling: sizes.routedScaling,
  });
  const windowed = {
    kind: 'shared-kv-mqa',
    ...{ headCount, headDim: 512, ropeHeadDim: 64, qLoraRank },
    ...{ outputGroupCount, outputLoraRank: 1024, windowTokens: 128, compression: null },
  } as const satisfies SharedKvMqa;
  const indexer = { headCount: 64, headDim: 128, topK: sizes.indexTopK };
  const sparse: SharedKvMqa = { ...windowed, compression: { ratio: 4, overlapping: true, indexer } };
  const heavy: SharedKvMqa = { ...windowed, compression: { ratio: 128, overlapping: false, indexer: null } };
  const first = sizes.firstRatio === 0 ? windowed : heavy;
  return model({
    name: sizes.name,
    source:
      'config.json of nvidia/DeepSeek-V4-Pro-NVFP4 and -Flash-NVFP4, the sizes of deepseek-ai/DeepSeek-V4, as read in 2026-11',
    hiddenSize,
    vocabSize: 129_280,
    contextTokens: 1_048_576,
    layers: stack(layerCount, (index) => ({
      attention: index < 2 ? first : index % 2 === 0 ? sparse : heavy,
      ffn: experts,
    })),
    moe: experts,
    residualStreams: 4,
    mtpLayerCount: 1,
    precision: { routedExperts: precisions.mxfp4, rest: precisions.fp8 },
    assumptions: [
      'extra prediction layers are counted like the last layer, whose attention has more parts',
      'the first 3 layers choose experts by a table of token ids in the model, by scores here',
      'activations are clamped at 10 in the model, which is left out',
    ],
  });
}

export const deepseekV4Pro = deepseekV4({
  name: 'deepseek-v4-pro',
  hiddenSize: 7168,
  headCount: 128,
  qLoraRank: 1536,
  outputGroupCount: 16,
  indexTopK: 1024,
  expertCount: 384,
  expertInnerSize: 3072,
  routedScaling: 2.5,
  layerCount: 61,
  firstRatio: 128,
});

export const deepseekV4Flash = deepseekV4({
  name: 'deepseek-v4-flash',
  hiddenSize: 4096,
  headCount: 64,
  qLoraRank: 1024,
  outputGroupCount: 8,
  indexTopK: 512,
  expertCount: 256,
  expertInnerSize: 2048,
  routedScaling: 1.5,
  layerCount: 43,
  firstRatio: 0,
});

/** The language model alone has 1.573 T. */
export const deepseekV4ProCounts: PublishedCounts = {
  total: { figure: '1.6 T', holds: [...WHOLE, 'prediction'] },
  active: { figure: '49 B', holds: MULTIPLIED },
  source: 'model card of deepseek-ai/DeepSeek-V4-Pro, 2026-04',
};

export const deepseekV4FlashCounts: PublishedCounts = {
  total: { figure: '284 B', holds: WHOLE },
  active: { figure: '13 B', holds: MULTIPLIED },
  source: 'model card of deepseek-ai/DeepSeek-V4-Flash, 2026-04',
};
