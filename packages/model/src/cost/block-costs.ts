/**
 * Every kind of block of a model at full size: parameters, bytes, FLOPs of one token, state and kernels.
 * The one idea: blocks are groups of lines of the parameter list, so their parameters add up to the model's.
 * A text token in decode is counted; the vision tower has parameters but no part in it.
 */
import type { AttentionShape, ModelShape } from '@epsim/spec';
import { parameterList } from '../parameters/parameter-list.js';
import {
  cacheElementsPerToken,
  fixedStateElements,
  type StateFormat,
  stateBytes,
} from '../parameters/state.js';
import type { ParameterTensor } from '../parameters/tensor-entry.js';
import { coreWork, projectionWork } from './attention-work.js';

export interface BlockCost {
  /** 'kda', 'mla', 'gqa', 'gqa window 128', or the class of tensors: 'router', 'routed-expert', ... */
  readonly block: string;
  /** Layers that have the block; 1 for what stands outside the stack. */
  readonly layers: number;
  readonly parameters: number;
  /** Parameters that one token multiplies with. */
  readonly activeParameters: number;
  readonly weightBytes: number;
  /** FLOPs of one token at the given context, over all layers. */
  readonly flopsPerToken: number;
  /** State of one sequence at the given context, over all layers: caches in `format`, recurrent states in FP32. */
  readonly stateBytes: number;
  /** Kernels of one step over all layers. */
  readonly kernels: number;
}

/** Kernels that a class of tensors stands for in one layer: products, activations and selections. */
const KERNELS: Readonly<Record<string, number>> = {
  router: 2,
  'latent-projection': 2,
  'routed-expert': 3,
  'shared-expert': 3,
  dense: 3,
  norm: 2,
  'residual-query': 2,
  embedding: 1,
  head: 1,
  'mtp-projection': 0,
  vision: 0,
};

/** Name of a mixer's kind; windows and blocks apart, because they cost differently. */
function mixerName(attention: AttentionShape): string {
  if (attention.kind === 'shared-kv-mqa') {
    const blocks = attention.compression === null ? '' : ` blocks of ${attention.compression.ratio}`;
    return `${attention.kind} window ${attention.windowTokens}${blocks}`;
  }
  const window = attention.kind === 'gqa' ? attention.windowTokens : null;
  return window === null ? attention.kind : `${attention.kind} window ${window}`;
}

/** Language lines are grouped by mixer or class; extra prediction layers and vision are blocks of their own. */
function blockOf(model: ModelShape, tensor: ParameterTensor): string {
  if (tensor.part !== 'language') return tensor.part;
  if (tensor.tensorClass !== 'attention' || tensor.layer === null) return tensor.tensorClass;
  const attention = model.layers[tensor.layer]?.attention;
  return attention ? mixerName(attention) : tensor.tensorClass;
}

/** FLOPs, state and kernels of one mixer for one token at `contextTokens`, its projections apart. */
function mixerCost(model: ModelShape, attention: AttentionShape, contextTokens: number, format: StateFormat) {
  const core = coreWork(attention, { sequences: 1, newTokens: 1, contextTokens });
  const one = { ...model, layers: [{ attention, ffn: null }] };
  return {
    flops: core.flops,
    state: stateBytes(one, contextTokens, format).total,
    kernels: core.kernels + projectionWork(model, attention, 1).kernels,
  };
}

/**
 * One row per kind of block, in order of first appearance. Parameters over all rows are those of the whole
 * parameter list; active parameters over all rows are the model's.
 */
export function blockCosts(
  model: ModelShape,
  contextTokens: number,
  format: StateFormat = 'bf16',
): readonly BlockCost[] {
  const groups = new Map<string, ParameterTensor[]>();
  for (const tensor of parameterList(model)) {
    const block = blockOf(model, tensor);
    groups.set(block, [...(groups.get(block) ?? []), tensor]);
  }
  return [...groups].map(([block, tensors]) => {
    const layers = new Set(tensors.map((tensor) => tensor.layer ?? -1)).size;
    const sum = (field: 'elements' | 'activeElements' | 'bytes'): number =>
      tensors.reduce((total, tensor) => total + tensor[field], 0);
    const mixer = model.layers.find(
      ({ attention }) => attention && mixerName(attention) === block,
    )?.attention;
    const cost = mixer ? mixerCost(model, mixer, contextTokens, format) : null;
    return {
      block,
      layers,
      parameters: sum('elements'),
      activeParameters: sum('activeElements'),
      weightBytes: sum('bytes'),
      flopsPerToken: 2 * sum('activeElements') + layers * (cost?.flops ?? 0),
      stateBytes: layers * (cost?.state ?? 0),
      kernels: layers * (cost?.kernels ?? KERNELS[block] ?? 0),
    };
  });
}

export interface ContextCost {
  readonly contextTokens: number;
  /** FLOPs of one token in decode, weights included. */
  readonly flopsPerToken: number;
  /** Of these, what depends on the context: scores and weighted sums. */
  readonly contextFlopsPerToken: number;
  readonly cacheBytes: number;
  readonly recurrentBytes: number;
}

/** The same model with its softmax mixer in every layer: what a long context would cost without recurrence. */
export function withSoftmaxEverywhere(model: ModelShape): ModelShape {
  const softmax = model.layers.find(({ attention }) => cacheElementsPerToken(attention) > 0)?.attention;
  if (!softmax) return model;
  const layers = model.layers.map((layer) =>
    fixedStateElements(layer.attention).recurrent > 0 ? { ...layer, attention: softmax } : layer,
  );
  return { ...model, layers };
}

/** Decode of one token at each context length: FLOPs, and the state that the sequence holds. */
export function contextCosts(
  model: ModelShape,
  contexts: readonly number[],
  format: StateFormat = 'bf16',
): readonly ContextCost[] {
  const active = 2 * parameterList(model).reduce((sum, tensor) => sum + tensor.activeElements, 0);
  return contexts.map((contextTokens) => {
    let contextFlops = 0;
    for (const { attention } of model.layers) {
      if (attention === null) continue;
      contextFlops += coreWork(attention, { sequences: 1, newTokens: 1, contextTokens }).flops;
    }
    const { cache, recurrent, conv } = stateBytes(model, contextTokens, format);
    return {
      contextTokens,
      flopsPerToken: active + contextFlops,
      contextFlopsPerToken: contextFlops,
      cacheBytes: cache,
      recurrentBytes: recurrent + conv,
    };
  });
}
