/**
 * What each mechanism of Kimi K3 costs at full size, from the model's own parameter list and work functions.
 * Its one idea: rows are groups of the same list that memory plans use, so their parameters add up to the model.
 */
import {
  type AttentionBatch,
  addWork,
  attentionWork,
  blockCount,
  denseLayerWork,
  NO_WORK,
  orthogonalizeFlops,
  type ParameterTensor,
  parameterList,
  stateBytes,
  type Work,
} from '@epsim/model';
import { headMuonFlops } from '@epsim/planner';
import type { MechanismRow } from '@epsim/report';
import { formatValue } from '@epsim/report';
import type { AttentionShape, ModelShape } from '@epsim/spec';
import { LONG_CONTEXT, wireBytes } from '../model-ledger.js';

const BLOCKS = 'packages/model/src/blocks';
const TESTS = 'test/model/blocks';

type Group = (tensor: ParameterTensor) => boolean;

const bytesOf = (value: number) => formatValue(value, 'bytes');

function sumOf(
  list: readonly ParameterTensor[],
  field: 'elements' | 'activeElements' | 'bytes',
  group: Group,
) {
  return list.reduce((sum, tensor) => sum + (group(tensor) ? tensor[field] : 0), 0);
}

const times = (work: Work, count: number): Work => ({
  flops: work.flops * count,
  bytes: work.bytes * count,
  kernels: work.kernels * count,
});

/** Sources that all readers of attention residuals mix for one token. */
function depthSourceCount(shape: ModelShape): { readonly readers: number; readonly sources: number } {
  const block = shape.attnResBlockLayers ?? shape.layers.length;
  let sources = Math.ceil(shape.layers.length / block) + 1;
  let readers = 1;
  for (let layer = 0; layer < shape.layers.length; layer++) {
    if (layer > 0) sources += Math.ceil(layer / block) + 1;
    sources += Math.floor(layer / block) + 2;
    readers += layer > 0 ? 2 : 1;
  }
  return { readers, sources };
}

/** What rows are made from: the parameter list, its groups, and the work of the unrouted parts for one token. */
interface Costing {
  readonly shape: ModelShape;
  readonly list: readonly ParameterTensor[];
  readonly routedLayers: number;
  readonly dense: ReturnType<typeof denseLayerWork>;
}

interface RowCost {
  readonly layers?: number;
  readonly group?: Group;
  readonly work?: Work;
  readonly state?: string;
}

const isClass =
  (...classes: readonly ParameterTensor['tensorClass'][]): Group =>
  ({ tensorClass }) =>
    classes.includes(tensorClass);

function isMixer(shape: ModelShape, kind: 'kda' | 'mla'): Group {
  return ({ tensorClass, layer }) =>
    tensorClass === 'attention' && layer !== null && shape.layers[layer].attention?.kind === kind;
}

function mixersOf(shape: ModelShape, kind: 'kda' | 'mla'): readonly AttentionShape[] {
  return shape.layers.flatMap(({ attention }) => (attention?.kind === kind ? [attention] : []));
}

function mixerWork(shape: ModelShape, kind: 'kda' | 'mla'): Work {
  const batch: AttentionBatch = { sequences: 1, newTokens: 1, contextTokens: LONG_CONTEXT };
  return mixersOf(shape, kind).reduce(
    (sum, attention) => addWork(sum, attentionWork(shape, attention, batch)),
    NO_WORK,
  );
}

/** Two FLOPs for each active element, its share of the stored bytes. */
function workOfGroup(list: readonly ParameterTensor[], group: Group, kernels: number): Work {
  const bytes = list.reduce(
    (sum, tensor) => sum + (group(tensor) ? (tensor.bytes * tensor.activeElements) / tensor.elements : 0),
    0,
  );
  return { flops: 2 * sumOf(list, 'activeElements', group), bytes, kernels };
}

/** One row. Names without a folder are those of a block and of its test. */
function rowOf(
  { list }: Costing,
  mechanism: string,
  file: string,
  check: string,
  own: RowCost,
): MechanismRow {
  return {
    mechanism,
    file: file.includes('/') ? file : `${BLOCKS}/${file}`,
    check: check.includes('/') ? check : `${TESTS}/${check}`,
    layers: own.layers ?? 0,
    params: own.group === undefined ? 0 : sumOf(list, 'elements', own.group),
    flops: own.work?.flops ?? null,
    bytes: own.work?.bytes ?? null,
    kernels: own.work?.kernels ?? null,
    state: own.state ?? '',
  };
}

function streamRows(costing: Costing): MechanismRow[] {
  const { shape, list } = costing;
  const millions = (group: Group) => Math.round(sumOf(list, 'elements', group) / 1e6);
  const projector = millions((t) => t.part === 'vision' && t.name.startsWith('projector'));
  const encoder = millions((t) => t.part === 'vision') - projector;
  return [
    rowOf(costing, 'vision path', 'vision.ts', 'vision.test.ts', {
      layers: shape.vision?.layerCount ?? 0,
      group: isClass('vision'),
      state: `for image tokens only; encoder ${encoder} M, projector ${projector} M`,
    }),
    rowOf(costing, 'embedding', `${BLOCKS}/k3/k3-forward.ts`, 'k3-mini.test.ts', {
      group: isClass('embedding'),
      work: { flops: 0, bytes: 2 * 2 * shape.hiddenSize, kernels: 1 },
    }),
  ];
}

function sequenceRows(costing: Costing): MechanismRow[] {
  const { shape } = costing;
  const state = stateBytes(shape, 0, 'bf16');
  return [
    rowOf(costing, 'Kimi Delta Attention', 'kda.ts', 'kda.test.ts', {
      layers: mixersOf(shape, 'kda').length,
      group: isMixer(shape, 'kda'),
      work: mixerWork(shape, 'kda'),
      state: `${bytesOf(state.recurrent + state.conv)} a sequence, whatever its length`,
    }),
    rowOf(costing, 'gated latent attention', 'gated-mla.ts', 'gated-mla.test.ts', {
      layers: mixersOf(shape, 'mla').length,
      group: isMixer(shape, 'mla'),
      work: mixerWork(shape, 'mla'),
      state: `${bytesOf(stateBytes(shape, 1, 'bf16').cache)} a token`,
    }),
  ];
}

function depthRows(costing: Costing): MechanismRow[] {
  const { hiddenSize, layers, attnResBlockLayers } = costing.shape;
  const { readers, sources } = depthSourceCount(costing.shape);
  const blocks = blockCount(layers.length, attnResBlockLayers ?? 1);
  return [
    rowOf(costing, 'block attention residuals', 'attention-residual.ts', 'attention-residual.test.ts', {
      layers: layers.length,
      group: isClass('residual-query'),
      // A square, a product and a weighted sum for each element of each source.
      work: {
        flops: 6 * hiddenSize * sources,
        bytes: 2 * hiddenSize * (sources + readers),
        kernels: readers,
      },
      state: `${bytesOf(2 * hiddenSize * blocks)} a token in flight`,
    }),
  ];
}

function widthRows(costing: Costing): MechanismRow[] {
  const { shape, list, routedLayers: layers, dense } = costing;
  const latent = addWork(dense.downProjection, dense.upProjection);
  return [
    rowOf(costing, 'router, selection with bias', 'latent-moe.ts', 'latent-moe.test.ts', {
      layers,
      group: isClass('router'),
      work: times(dense.router, layers),
    }),
    rowOf(costing, 'latent projections', 'latent-moe.ts', 'latent-moe.test.ts', {
      layers,
      group: isClass('latent-projection'),
      work: times(latent, layers),
    }),
    rowOf(costing, 'routed experts, SiTU-GLU', 'situ-glu.ts', 'situ-glu.test.ts', {
      layers,
      group: isClass('routed-expert'),
      work: workOfGroup(list, isClass('routed-expert'), 3 * layers),
      state: `${shape.moe.topK} of ${shape.moe.expertCount} a token`,
    }),
    rowOf(
      costing,
      'exchange between ranks',
      'packages/engine/src/carry/session.ts',
      'test/engine/mini.test.ts',
      {
        layers,
        state: `${wireBytes(shape).toLocaleString('en-US')} B a token and layer before rows are shared`,
      },
    ),
    rowOf(costing, 'shared experts', 'glu-network.ts', 'latent-moe.test.ts', {
      layers,
      group: isClass('shared-expert'),
      work: times(dense.sharedExperts, layers),
    }),
  ];
}

function otherRows(costing: Costing): MechanismRow[] {
  const { shape, list, routedLayers } = costing;
  const denseLayers = shape.layers.length - routedLayers;
  const isNorm = isClass('norm');
  return [
    rowOf(costing, 'dense first layer', 'glu-network.ts', 'situ-glu.test.ts', {
      layers: denseLayers,
      group: isClass('dense'),
      work: workOfGroup(list, isClass('dense'), 3 * denseLayers),
    }),
    rowOf(costing, 'norms', 'rms-norm.ts', 'k3-mini.test.ts', {
      layers: shape.layers.length,
      group: isNorm,
      work: workOfGroup(list, isNorm, list.filter((t) => isNorm(t) && t.part === 'language').length),
    }),
    rowOf(costing, 'head, sampling', 'head.ts', 'head.test.ts', {
      group: isClass('head'),
      work: workOfGroup(list, isClass('head'), 1),
    }),
  ];
}

function trainingRows(costing: Costing): MechanismRow[] {
  const { shape, routedLayers } = costing;
  const [kda] = mixersOf(shape, 'kda');
  if (kda?.kind !== 'kda') throw new RangeError(`${shape.name} has no delta attention`);
  const inner = kda.headCount * kda.headDim;
  const flops = (value: number) => `${formatValue(value, 'count')}FLOP`;
  const one = (blockRows: number) => flops(orthogonalizeFlops(inner, shape.hiddenSize, blockRows));
  const headed = shape.layers.filter(({ attention }) => attention !== null).length;
  const matrix = `${inner.toLocaleString('en-US')} x ${shape.hiddenSize.toLocaleString('en-US')}`;
  return [
    rowOf(costing, 'quantile balancing (training)', 'quantile-bias.ts', 'training.test.ts', {
      layers: routedLayers,
      state: `bias of ${shape.moe.expertCount} a layer, frozen for inference`,
    }),
    rowOf(costing, 'Muon per head (training)', 'optimizers.ts', 'muon.test.ts', {
      layers: headed,
      state: `${flops(headMuonFlops(shape, true))} a step for the head blocks of all mixers, ${flops(headMuonFlops(shape, false))} whole; of it one projection of ${matrix}: ${one(kda.headDim)}, ${one(inner)} whole`,
    }),
  ];
}

/** Rows of every mechanism, in the order of a token's way. */
export function mechanisms(shape: ModelShape): MechanismRow[] {
  const costing: Costing = {
    shape,
    list: parameterList(shape),
    routedLayers: shape.layers.filter((layer) => layer.ffn?.kind === 'moe').length,
    dense: denseLayerWork(shape, 1),
  };
  return [streamRows, sequenceRows, depthRows, widthRows, otherRows, trainingRows].flatMap((rows) =>
    rows(costing),
  );
}
