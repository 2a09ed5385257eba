/**
 * What preset files have in common, so that each shows only what is particular to its model.
 * A part that a preset does not mention is absent from the model, never guessed.
 */
import type { AttentionShape, DenseShape, LayerShape, ModelShape, MoeShape } from '../../model-shape.js';

export type Mla = Extract<AttentionShape, { kind: 'mla' }>;
export type Gqa = Extract<AttentionShape, { kind: 'gqa' }>;
export type SharedKvMqa = Extract<AttentionShape, { kind: 'shared-kv-mqa' }>;
export type Kda = Extract<AttentionShape, { kind: 'kda' }>;

/** Latent attention without output gate and indexer unless said. */
export function mla(
  sizes: Omit<Mla, 'kind' | 'outputGate' | 'indexer'> & Partial<Pick<Mla, 'outputGate' | 'indexer'>>,
): Mla {
  return { kind: 'mla', outputGate: false, indexer: null, ...sizes };
}

/** Grouped-query attention over the whole prefix, without gate, biases, query-key norm and sinks unless said. */
export function gqa(sizes: Pick<Gqa, 'headCount' | 'kvHeadCount' | 'headDim'> & Partial<Gqa>): Gqa {
  return {
    kind: 'gqa',
    windowTokens: null,
    outputGate: false,
    bias: false,
    qkNorm: false,
    sinks: false,
    ...sizes,
  };
}

/** Experts at full width behind a sigmoid router with a selection bias (DeepSeek-V3's kind) unless said. */
export function moe(
  sizes: Pick<MoeShape, 'expertCount' | 'topK' | 'expertWidth' | 'expertInnerSize'> & Partial<MoeShape>,
): MoeShape {
  return {
    kind: 'moe',
    latent: false,
    latentNorm: false,
    sharedExpertCount: 0,
    sharedInnerSize: 0,
    scoring: 'sigmoid',
    renormalize: true,
    routedScaling: 1,
    selectionBias: true,
    groupCount: 1,
    topGroupCount: 1,
    bias: false,
    gated: true,
    ...sizes,
  };
}

export function dense(innerSize: number): DenseShape {
  return { kind: 'dense', innerSize };
}

/** Layers 0 .. count - 1, each as `layer` gives it. */
export function stack(count: number, layer: (index: number) => LayerShape): readonly LayerShape[] {
  return Array.from({ length: count }, (_, index) => layer(index));
}

/** A SwiGLU model without vision, extra prediction layers and attention residuals unless said. */
export function model(
  sizes: Pick<
    ModelShape,
    'name' | 'source' | 'hiddenSize' | 'vocabSize' | 'contextTokens' | 'layers' | 'moe' | 'precision'
  > &
    Partial<ModelShape>,
): ModelShape {
  return {
    tiedEmbeddings: false,
    activation: 'swiglu',
    situ: null,
    attnResBlockLayers: null,
    residualStreams: 1,
    mtpLayerCount: 0,
    vision: null,
    assumptions: [],
    ...sizes,
  };
}
