/**
 * Every tensor of a model with its elements and its bytes: the list that memory plans must add up to.
 * The one idea: a total is a sum over named tensors, so a wrong total has a name.
 * Knows sizes and storage; which rank holds what, and what a step computes, are decided elsewhere.
 */
import { type LayerShape, type ModelShape, type Precision, precisions, type VisionShape } from '@epsim/spec';
import { attentionTensors } from './attention-parameters.js';
import { denseTensors, moeTensors } from './feed-forward-parameters.js';
import { type ParameterTensor, storedBytes, type TensorSize } from './tensor-entry.js';

/** Colour channels of an image patch. */
const IMAGE_CHANNELS = 3;

function replicated(name: string, tensorClass: TensorSize['tensorClass'], elements: number): TensorSize {
  return { name, tensorClass, elements, split: 'replicated', plain: true };
}

/** Tensors of one layer: pre-norms, mixer, feed-forward, and the queries of attention residuals. */
function layerTensors(shape: ModelShape, layer: LayerShape): TensorSize[] {
  const hidden = shape.hiddenSize;
  const list: TensorSize[] = [];
  const residual = (name: string): TensorSize[] => [
    ...(shape.attnResBlockLayers === null ? [] : [replicated(name, 'residual-query', 2 * hidden)]),
    ...(shape.residualStreams === 1
      ? []
      : [replicated(`${name}_streams`, 'residual-query', streamElements(shape))]),
  ];
  if (layer.attention !== null) {
    list.push(replicated('attention_norm', 'norm', hidden), ...residual('attention_residual'));
    list.push(...attentionTensors(layer.attention, hidden));
  }
  if (layer.ffn !== null) {
    list.push(replicated('ffn_norm', 'norm', hidden), ...residual('ffn_residual'));
    const { ffn } = layer;
    list.push(...(ffn.kind === 'moe' ? moeTensors(ffn, hidden) : denseTensors(ffn, hidden, shape.moe.gated)));
  }
  return list;
}

/**
 * A hyper-connection of n streams: weights that read a block's input from the streams [n], write its output to them
 * [n] and mix them [n x n], each a product with all streams, with a bias, and a scale for each of the three.
 */
function streamElements({ residualStreams: n, hiddenSize }: ModelShape): number {
  const weights = (2 + n) * n;
  return weights * n * hiddenSize + weights + 3;
}

/** Patch embedding, learned positions, encoder layers without biases, and the projector with its norm. */
function visionTensors(shape: ModelShape, v: VisionShape): TensorSize[] {
  const attention = 4 * v.hiddenSize * v.headCount * v.headDim;
  const perLayer = attention + 2 * v.hiddenSize * v.innerSize + 2 * v.hiddenSize;
  const merged = v.hiddenSize * v.mergeSize ** 2;
  const tower = (name: string, elements: number): TensorSize => replicated(name, 'vision', elements);
  return [
    tower('patch_embedding', IMAGE_CHANNELS * v.patchSize ** 2 * v.hiddenSize),
    tower('positions', v.positionGrid ** 2 * v.hiddenSize),
    tower('encoder', v.layerCount * perLayer),
    tower('encoder_norm', v.hiddenSize),
    tower('projector', merged * v.projectorInnerSize + v.projectorInnerSize * shape.hiddenSize),
    tower('projector_norm', shape.hiddenSize),
  ];
}

/** Storage of a tensor: experts have their own format, vectors and lookups stay in 16 bits. */
function precisionOf(shape: ModelShape, tensor: TensorSize): Precision {
  const own = tensor.tensorClass === 'routed-expert' ? shape.precision.routedExperts : shape.precision.rest;
  return tensor.plain && own.bits < 16 ? precisions.bf16 : own;
}

function entry(
  shape: ModelShape,
  tensor: TensorSize,
  part: ParameterTensor['part'],
  layer: number | null,
): ParameterTensor {
  const { tensorClass, elements } = tensor;
  const precision = precisionOf(shape, tensor);
  const active = part === 'language' && tensorClass !== 'embedding';
  return {
    name: layer === null ? tensor.name : `layers.${layer}.${tensor.name}`,
    tensorClass,
    layer,
    part,
    elements,
    bytes: storedBytes(elements, precision),
    precision,
    active,
    activeElements: active ? (tensor.activeElements ?? elements) : 0,
    split: tensor.split,
  };
}

/** Multi-token-prediction layers repeat the last layer and join two normalised streams before it. */
function mtpTensors(shape: ModelShape): TensorSize[] {
  const hidden = shape.hiddenSize;
  const last = shape.layers[shape.layers.length - 1];
  if (last === undefined) return [];
  return [
    ...layerTensors(shape, last),
    {
      name: 'mtp_join',
      tensorClass: 'mtp-projection',
      elements: 2 * hidden * hidden,
      split: 'replicated',
      plain: false,
    },
    replicated('mtp_norms', 'norm', 3 * hidden),
  ];
}

/**
 * Every tensor of the model, first layer to last. Elements of all lines with part 'language' are the
 * published parameter count; bytes of all lines are the size of the checkpoint.
 * Tied embeddings appear once, as the head, which is what a token multiplies with.
 */
export function parameterList(shape: ModelShape): readonly ParameterTensor[] {
  const list: ParameterTensor[] = [];
  const table = shape.vocabSize * shape.hiddenSize;
  const add = (tensor: TensorSize, part: ParameterTensor['part'], layer: number | null): void => {
    list.push(entry(shape, tensor, part, layer));
  };
  const vocabulary = (name: string, tensorClass: 'embedding' | 'head'): TensorSize => ({
    name,
    tensorClass,
    elements: table,
    split: 'tensor',
    plain: true,
  });
  if (!shape.tiedEmbeddings) add(vocabulary('embedding', 'embedding'), 'language', null);
  shape.layers.forEach((layer, index) => {
    for (const tensor of layerTensors(shape, layer)) add(tensor, 'language', index);
  });
  if (shape.attnResBlockLayers !== null) {
    add(replicated('output_residual', 'residual-query', 2 * shape.hiddenSize), 'language', null);
  }
  if (shape.residualStreams > 1) {
    const n = shape.residualStreams;
    const elements = n * n * shape.hiddenSize + n + 1;
    add(replicated('output_streams', 'residual-query', elements), 'language', null);
  }
  add(replicated('output_norm', 'norm', shape.hiddenSize), 'language', null);
  add(vocabulary('head', 'head'), 'language', null);
  for (let i = 0; i < shape.mtpLayerCount; i++) {
    for (const tensor of mtpTensors(shape)) add(tensor, 'mtp', shape.layers.length + i);
  }
  if (shape.vision !== null) {
    for (const tensor of visionTensors(shape, shape.vision)) add(tensor, 'vision', null);
  }
  return list;
}
