/**
 * The parameter list of a model, summed by pipeline stage, tensor class and how each tensor may be cut.
 * One idea: a rank's weights are a few products of these sums, and every sum comes from the model's own list.
 */
import { type ParameterTensor, parameterList, type TensorClass, type TensorSplit } from '@epsim/model';
import type { ModelShape } from '@epsim/spec';
import { stageLayers } from './layout.js';

/** One line of a stage: bytes of all tensors of a class that are cut the same way. */
export interface StageSum {
  readonly tensorClass: TensorClass;
  readonly split: TensorSplit;
  readonly elements: number;
  readonly bytes: number;
  /** Ways beyond which ranks hold copies, for key and value matrices of few heads; Infinity otherwise. */
  readonly mostWays: number;
}

/** Stages of `pipeline`, first to last, [pipeline]. `mtpLayers` of the extra prediction layers are loaded, on the last. */
export function stageSums(
  model: ModelShape,
  pipeline: number,
  mtpLayers: number,
): readonly (readonly StageSum[])[] {
  const stages = Array.from({ length: pipeline }, () => new Map<string, StageSum>());
  const layerCount = model.layers.length;
  const stageOfLayer = new Int32Array(layerCount);
  for (let stage = 0; stage < pipeline; stage++) {
    stageOfLayer.fill(stage, ...stageLayers(layerCount, pipeline, stage));
  }
  for (const tensor of parameterList(model)) {
    if (tensor.part === 'mtp' && (tensor.layer ?? 0) >= layerCount + mtpLayers) continue;
    const sums = stages[stageOf(tensor, stageOfLayer)];
    const mostWays = mostWaysOf(model, tensor);
    const key = `${tensor.tensorClass} ${tensor.split} ${mostWays}`;
    const { tensorClass, split } = tensor;
    const before = sums.get(key) ?? { tensorClass, split, elements: 0, bytes: 0, mostWays };
    sums.set(key, {
      ...before,
      elements: before.elements + tensor.elements,
      bytes: before.bytes + tensor.bytes,
    });
  }
  return stages.map((sums) => [...sums.values()]);
}

/** Lookups and the vision tower come before the first layer, the head and prediction layers after the last. */
function stageOf(tensor: ParameterTensor, stageOfLayer: Int32Array): number {
  const last = stageOfLayer[stageOfLayer.length - 1];
  if (tensor.part === 'vision' || tensor.tensorClass === 'embedding') return 0;
  if (tensor.layer === null || tensor.layer >= stageOfLayer.length) return last;
  return stageOfLayer[tensor.layer];
}

/** Tensor-parallel ranks beyond which a tensor is repeated: heads of keys and values, groups of output projections. */
function mostWaysOf(model: ModelShape, tensor: ParameterTensor): number {
  const layer =
    tensor.layer === null ? undefined : model.layers[Math.min(tensor.layer, model.layers.length - 1)];
  const attention = layer?.attention;
  const isKeyOrValue = tensor.tensorClass === 'attention' && /\.(k|v)$/.test(tensor.name);
  if (isKeyOrValue && attention?.kind === 'gqa') return attention.kvHeadCount;
  const isOutput = tensor.tensorClass === 'attention' && tensor.name.endsWith('.out_up');
  if (isOutput && attention?.kind === 'shared-kv-mqa') return attention.outputGroupCount;
  return Number.POSITIVE_INFINITY;
}
