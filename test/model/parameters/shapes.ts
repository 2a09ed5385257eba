/**
 * Published models spelled out by hand, so that counts are checked without the presets.
 * Sizes: the models' own config.json files.
 */
import type { AttentionShape, LayerShape, ModelShape, MoeShape, Precision } from '@epsim/spec';

export const bf16: Precision = { name: 'bf16', bits: 16, groupSize: 0, scaleBits: 0 };
export const mxfp4: Precision = { name: 'mxfp4', bits: 4, groupSize: 32, scaleBits: 8 };
export const nvfp4: Precision = { name: 'nvfp4', bits: 4, groupSize: 16, scaleBits: 8 };
export const int4: Precision = { name: 'int4', bits: 4, groupSize: 32, scaleBits: 16 };
export const fp8: Precision = { name: 'fp8', bits: 8, groupSize: 16384, scaleBits: 32 };

export function experts(sizes: Partial<MoeShape>): MoeShape {
  return {
    kind: 'moe',
    expertCount: 8,
    topK: 2,
    expertWidth: 64,
    expertInnerSize: 64,
    latent: false,
    latentNorm: false,
    sharedExpertCount: 0,
    sharedInnerSize: 0,
    scoring: 'sigmoid',
    renormalize: true,
    routedScaling: 1,
    selectionBias: false,
    groupCount: 1,
    topGroupCount: 1,
    bias: false,
    gated: true,
    ...sizes,
  };
}

export function model(
  sizes: Partial<ModelShape> & Pick<ModelShape, 'name' | 'hiddenSize' | 'layers' | 'moe'>,
): ModelShape {
  return {
    source: 'test',
    vocabSize: 1000,
    contextTokens: 131072,
    tiedEmbeddings: false,
    activation: 'swiglu',
    situ: null,
    attnResBlockLayers: null,
    residualStreams: 1,
    mtpLayerCount: 0,
    vision: null,
    precision: { routedExperts: bf16, rest: bf16 },
    assumptions: [],
    ...sizes,
  };
}

export function gqa(
  headCount: number,
  kvHeadCount: number,
  headDim: number,
  windowTokens: number | null = null,
) {
  return {
    kind: 'gqa',
    headCount,
    kvHeadCount,
    headDim,
    windowTokens,
    outputGate: false,
    bias: false,
    qkNorm: false,
    sinks: false,
  } as const satisfies AttentionShape;
}

export function mla(headCount: number, qLoraRank: number, nopeHeadDim = 128, valueHeadDim = 128) {
  return {
    kind: 'mla',
    headCount,
    qLoraRank,
    kvLoraRank: 512,
    nopeHeadDim,
    ropeHeadDim: 64,
    valueHeadDim,
    outputGate: false,
    indexer: null,
  } as const satisfies AttentionShape;
}

function stack(count: number, layer: (index: number) => LayerShape): LayerShape[] {
  return Array.from({ length: count }, (_, index) => layer(index));
}

export function kimiK3(): ModelShape {
  const moe = experts({
    expertCount: 896,
    topK: 16,
    expertWidth: 3584,
    expertInnerSize: 3072,
    latent: true,
    latentNorm: true,
    sharedExpertCount: 2,
    sharedInnerSize: 3072,
    selectionBias: true,
  });
  const global: AttentionShape = { ...mla(96, 1536), outputGate: true };
  const recurrent: AttentionShape = {
    kind: 'kda',
    headCount: 96,
    headDim: 128,
    convSize: 4,
    gateRank: 128,
    fullRankOutputGate: true,
    logDecayBound: -5,
  };
  return model({
    name: 'kimi-k3',
    hiddenSize: 7168,
    vocabSize: 163840,
    contextTokens: 1048576,
    activation: 'situ',
    situ: { gateBound: 4, upBound: 25 },
    layers: stack(93, (i) => ({
      attention: i % 4 === 3 || i === 92 ? global : recurrent,
      ffn: i === 0 ? { kind: 'dense', innerSize: 33792 } : moe,
    })),
    moe,
    attnResBlockLayers: 12,
    vision: {
      layerCount: 27,
      hiddenSize: 1024,
      innerSize: 4096,
      headCount: 12,
      headDim: 128,
      patchSize: 14,
      mergeSize: 2,
      positionGrid: 64,
      projectorInnerSize: 4096,
    },
    precision: { routedExperts: mxfp4, rest: bf16 },
  });
}

export function kimiK2(routedExperts: Precision = bf16): ModelShape {
  const moe = experts({
    expertCount: 384,
    topK: 8,
    expertWidth: 7168,
    expertInnerSize: 2048,
    sharedExpertCount: 1,
    sharedInnerSize: 2048,
    selectionBias: true,
  });
  return model({
    name: 'kimi-k2',
    hiddenSize: 7168,
    vocabSize: 163840,
    layers: stack(61, (i) => ({
      attention: mla(64, 1536),
      ffn: i === 0 ? { kind: 'dense', innerSize: 18432 } : moe,
    })),
    moe,
    precision: { routedExperts, rest: bf16 },
  });
}

export function deepseekV3(): ModelShape {
  const moe = experts({
    expertCount: 256,
    topK: 8,
    expertWidth: 7168,
    expertInnerSize: 2048,
    sharedExpertCount: 1,
    sharedInnerSize: 2048,
    selectionBias: true,
    groupCount: 8,
    topGroupCount: 4,
  });
  return model({
    name: 'deepseek-v3',
    hiddenSize: 7168,
    vocabSize: 129280,
    layers: stack(61, (i) => ({
      attention: mla(128, 1536),
      ffn: i < 3 ? { kind: 'dense', innerSize: 18432 } : moe,
    })),
    moe,
    mtpLayerCount: 1,
    precision: { routedExperts: fp8, rest: fp8 },
  });
}

export function glm5(routedExperts: Precision): ModelShape {
  const moe = experts({
    expertCount: 256,
    topK: 8,
    expertWidth: 6144,
    expertInnerSize: 2048,
    sharedExpertCount: 1,
    sharedInnerSize: 2048,
    selectionBias: true,
  });
  return model({
    name: 'glm-5',
    hiddenSize: 6144,
    vocabSize: 154880,
    layers: stack(78, (i) => ({
      attention: { ...mla(64, 2048, 192, 256), indexer: { headCount: 32, headDim: 128, topK: 2048 } },
      ffn: i < 3 ? { kind: 'dense', innerSize: 12288 } : moe,
    })),
    moe,
    precision: { routedExperts, rest: bf16 },
  });
}

/** Layers of experts at odd positions only, and dense layers twice as wide as an expert. */
export function maverick(): ModelShape {
  const moe = experts({
    expertCount: 128,
    topK: 1,
    expertWidth: 5120,
    expertInnerSize: 8192,
    sharedExpertCount: 1,
    sharedInnerSize: 8192,
  });
  return model({
    name: 'llama-4-maverick',
    hiddenSize: 5120,
    vocabSize: 202048,
    layers: stack(48, (i) => ({
      attention: gqa(40, 8, 128),
      ffn: i % 2 === 1 ? moe : { kind: 'dense', innerSize: 16384 },
    })),
    moe,
  });
}

export function gptOss(layerCount: number, expertCount: number): ModelShape {
  const moe = experts({
    expertCount,
    topK: 4,
    expertWidth: 2880,
    expertInnerSize: 2880,
    scoring: 'softmax-over-top-k',
    bias: true,
  });
  return model({
    name: 'gpt-oss',
    hiddenSize: 2880,
    vocabSize: 201088,
    layers: stack(layerCount, (i) => ({
      attention: { ...gqa(64, 8, 64, i % 2 === 0 ? 128 : null), bias: true, sinks: true },
      ffn: moe,
    })),
    moe,
    precision: { routedExperts: mxfp4, rest: bf16 },
  });
}
