/**
 * What each mechanism of Kimi K3 costs at full size, from the model's own parameter list and work functions.
 * Its one idea: rows are groups of the same list that memory plans use, so their parameters add up to the model.
 */
import {
  type AttentionBatch,
  activeParamCount,
  addWork,
  attentionWork,
  blockCount,
  checkpointBytes,
  coreWork,
  denseLayerWork,
  NO_WORK,
  orthogonalizeFlops,
  type ParameterTensor,
  paramCount,
  parameterList,
  stateBytes,
  type Work,
} from '@epsim/model';
import type { ContextRow, LedgerRow, MechanismRow, Scale } from '@epsim/report';
import { formatValue } from '@epsim/report';
import { type AttentionShape, type ModelShape, modelPresets } from '@epsim/spec';

const CONTEXT = 131_072;
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

function mechanisms(shape: ModelShape): MechanismRow[] {
  const list = parameterList(shape);
  const { layers, moe, hiddenSize } = shape;
  const batch: AttentionBatch = { sequences: 1, newTokens: 1, contextTokens: CONTEXT };
  const routed = layers.filter((layer) => layer.ffn?.kind === 'moe').length;
  const mixers = (kind: 'kda' | 'mla') =>
    layers.flatMap(({ attention }) => (attention?.kind === kind ? [attention] : []));
  const isMixer =
    (kind: 'kda' | 'mla'): Group =>
    ({ tensorClass, layer }) =>
      tensorClass === 'attention' && layer !== null && layers[layer].attention?.kind === kind;
  const isClass =
    (...classes: readonly ParameterTensor['tensorClass'][]): Group =>
    ({ tensorClass }) =>
      classes.includes(tensorClass);
  const dense = denseLayerWork(shape, 1);
  const state = stateBytes(shape, 0, 'bf16');
  const perToken = stateBytes(shape, 1, 'bf16').cache;
  const kda = mixers('kda')[0];
  const inner = kda?.kind === 'kda' ? kda.headCount * kda.headDim : 0;
  const headDim = kda?.kind === 'kda' ? kda.headDim : 1;
  const depth = depthSourceCount(shape);
  const millions = (group: Group) => Math.round(sumOf(list, 'elements', group) / 1e6);
  const projector = millions((t) => t.part === 'vision' && t.name.startsWith('projector'));
  const encoder = millions((t) => t.part === 'vision') - projector;
  const ofClass = (group: Group, kernels: number): Work => ({
    flops: 2 * sumOf(list, 'activeElements', group),
    bytes: list.reduce(
      (sum, tensor) => sum + (group(tensor) ? (tensor.bytes * tensor.activeElements) / tensor.elements : 0),
      0,
    ),
    kernels,
  });
  const row = (
    mechanism: string,
    file: string,
    check: string,
    own: { readonly layers?: number; readonly group?: Group; readonly work?: Work; readonly state?: string },
  ): MechanismRow => ({
    mechanism,
    file: file.includes('/') ? file : `${BLOCKS}/${file}`,
    check: check.includes('/') ? check : `${TESTS}/${check}`,
    layers: own.layers ?? 0,
    params: own.group === undefined ? 0 : sumOf(list, 'elements', own.group),
    flops: own.work?.flops ?? null,
    bytes: own.work?.bytes ?? null,
    kernels: own.work?.kernels ?? null,
    state: own.state ?? '',
  });
  const mixerWork = (kind: 'kda' | 'mla') =>
    mixers(kind).reduce((sum, attention) => addWork(sum, attentionWork(shape, attention, batch)), NO_WORK);
  const isNorm = isClass('norm');
  return [
    row('vision path', 'vision.ts', 'vision.test.ts', {
      layers: shape.vision?.layerCount ?? 0,
      group: isClass('vision'),
      state: `for image tokens only; encoder ${encoder} M, projector ${projector} M`,
    }),
    row('embedding', `${BLOCKS}/k3/k3-forward.ts`, 'k3-mini.test.ts', {
      group: isClass('embedding'),
      work: { flops: 0, bytes: 2 * 2 * hiddenSize, kernels: 1 },
    }),
    row('Kimi Delta Attention', 'kda.ts', 'kda.test.ts', {
      layers: mixers('kda').length,
      group: isMixer('kda'),
      work: mixerWork('kda'),
      state: `${bytesOf(state.recurrent + state.conv)} a sequence, whatever its length`,
    }),
    row('gated latent attention', 'gated-mla.ts', 'gated-mla.test.ts', {
      layers: mixers('mla').length,
      group: isMixer('mla'),
      work: mixerWork('mla'),
      state: `${bytesOf(perToken)} a token`,
    }),
    row('block attention residuals', 'attention-residual.ts', 'attention-residual.test.ts', {
      layers: layers.length,
      group: isClass('residual-query'),
      // A square, a product and a weighted sum for each element of each source.
      work: {
        flops: 6 * hiddenSize * depth.sources,
        bytes: 2 * hiddenSize * (depth.sources + depth.readers),
        kernels: depth.readers,
      },
      state: `${bytesOf(2 * hiddenSize * blockCount(layers.length, shape.attnResBlockLayers ?? 1))} a token in flight`,
    }),
    row('router, selection with bias', 'latent-moe.ts', 'latent-moe.test.ts', {
      layers: routed,
      group: isClass('router'),
      work: times(dense.router, routed),
    }),
    row('latent projections', 'latent-moe.ts', 'latent-moe.test.ts', {
      layers: routed,
      group: isClass('latent-projection'),
      work: times(addWork(dense.downProjection, dense.upProjection), routed),
    }),
    row('routed experts, SiTU-GLU', 'situ-glu.ts', 'situ-glu.test.ts', {
      layers: routed,
      group: isClass('routed-expert'),
      work: ofClass(isClass('routed-expert'), 3 * routed),
      state: `${moe.topK} of ${moe.expertCount} a token`,
    }),
    row('exchange between ranks', 'packages/engine/src/carry/session.ts', 'test/engine/mini.test.ts', {
      layers: routed,
      state: `${wireBytes(shape).toLocaleString('en-US')} B a token and layer before rows are shared`,
    }),
    row('shared experts', 'glu-network.ts', 'latent-moe.test.ts', {
      layers: routed,
      group: isClass('shared-expert'),
      work: times(dense.sharedExperts, routed),
    }),
    row('dense first layer', 'glu-network.ts', 'situ-glu.test.ts', {
      layers: layers.length - routed,
      group: isClass('dense'),
      work: ofClass(isClass('dense'), 3 * (layers.length - routed)),
    }),
    row('norms', 'rms-norm.ts', 'k3-mini.test.ts', {
      layers: layers.length,
      group: isNorm,
      work: ofClass(isNorm, list.filter((t) => isNorm(t) && t.part === 'language').length),
    }),
    row('head, sampling', 'head.ts', 'head.test.ts', {
      group: isClass('head'),
      work: ofClass(isClass('head'), 1),
    }),
    row('quantile balancing (training)', 'quantile-bias.ts', 'test/routing/quantile.test.ts', {
      layers: routed,
      state: `bias of ${moe.expertCount} a layer, frozen for inference`,
    }),
    row('Muon per head (training)', 'optimizers.ts', 'muon.test.ts', {
      layers: mixers('kda').length,
      state: `${formatValue(orthogonalizeFlops(inner, hiddenSize, headDim), 'count')}FLOP a step and projection of ${inner.toLocaleString('en-US')} x ${hiddenSize.toLocaleString('en-US')}, ${formatValue(orthogonalizeFlops(inner, hiddenSize, inner), 'count')}FLOP whole`,
    }),
  ];
}

/** Bytes of one token in one layer, out in FP8 with a scale per 128 and back in BF16, a row per choice. */
function wireBytes({ moe }: ModelShape): number {
  return moe.topK * (moe.expertWidth + 4 * Math.ceil(moe.expertWidth / 128) + 2 * moe.expertWidth);
}

/** The model with another mixer in every layer. */
function withMixer(shape: ModelShape, attention: AttentionShape): ModelShape {
  return { ...shape, layers: shape.layers.map((layer) => ({ ...layer, attention })) };
}

/** FLOPs of attention proper, projections apart, for new tokens that end a sequence of `contextTokens`. */
function attentionFlops(shape: ModelShape, newTokens: number, contextTokens: number): number {
  return shape.layers.reduce(
    (sum, { attention }) =>
      attention === null ? sum : sum + coreWork(attention, { sequences: 1, newTokens, contextTokens }).flops,
    0,
  );
}

function contextRows(shape: ModelShape): ContextRow[] {
  const latent = shape.layers.find((layer) => layer.attention?.kind === 'mla')?.attention;
  const kda = shape.layers.find((layer) => layer.attention?.kind === 'kda')?.attention;
  if (!latent || kda?.kind !== 'kda') throw new RangeError(`${shape.name} does not mix KDA and MLA`);
  const softmax: AttentionShape = {
    kind: 'gqa',
    headCount: kda.headCount,
    kvHeadCount: kda.headCount,
    headDim: kda.headDim,
    windowTokens: null,
    outputGate: true,
    bias: false,
    qkNorm: false,
    sinks: false,
  };
  const kinds = { softmax: withMixer(shape, softmax), latent: withMixer(shape, latent), model: shape };
  const bytes = (kind: keyof typeof kinds, tokens: number) => stateBytes(kinds[kind], tokens, 'bf16').total;
  return Array.from({ length: 11 }, (_, i) => 2 ** (10 + i)).map((tokens) => ({
    tokens,
    softmaxBytes: bytes('softmax', tokens),
    latentBytes: bytes('latent', tokens),
    modelBytes: bytes('model', tokens),
    softmaxPrefill: attentionFlops(kinds.softmax, tokens, tokens),
    latentPrefill: attentionFlops(kinds.latent, tokens, tokens),
    modelPrefill: attentionFlops(kinds.model, tokens, tokens),
    softmaxNext: attentionFlops(kinds.softmax, 1, tokens),
    latentNext: attentionFlops(kinds.latent, 1, tokens),
    modelNext: attentionFlops(kinds.model, 1, tokens),
  }));
}

const RANKS = 32;

function attentionWords(shape: ModelShape): string {
  const counts = new Map<string, number>();
  for (const { attention } of shape.layers) {
    const kind = attention?.kind.toUpperCase() ?? 'none';
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return [...counts].map(([kind, count]) => `${count} ${kind}`).join(' + ');
}

function ledger(shapes: readonly ModelShape[]): LedgerRow[] {
  const row = (
    name: string,
    of: (shape: ModelShape) => number | string,
    unit: LedgerRow['unit'] = null,
  ): LedgerRow => ({ name, values: shapes.map(of), unit });
  const routedLayers = (shape: ModelShape) => shape.layers.filter(({ ffn }) => ffn?.kind === 'moe').length;
  const routedBytes = (shape: ModelShape) =>
    sumOf(parameterList(shape), 'bytes', ({ tensorClass }) => tensorClass === 'routed-expert');
  return [
    row('layers', (s) => s.layers.length),
    row('of them with experts', routedLayers),
    row('parameters', paramCount, 'count'),
    row('active for a token', activeParamCount, 'count'),
    row('experts in a layer', (s) => s.moe.expertCount),
    row('selected', (s) => s.moe.topK),
    row('experts to one selected', (s) => s.moe.expertCount / s.moe.topK),
    row('shared experts', (s) => s.moe.sharedExpertCount),
    row('width of a row that travels', (s) => s.moe.expertWidth),
    row('inner size of an expert', (s) => s.moe.expertInnerSize),
    row('hidden width', (s) => s.hiddenSize),
    row('attention', attentionWords),
    row('activation', (s) => (s.activation === 'situ' ? 'SiTU-GLU' : 'SwiGLU')),
    row('depth', (s) =>
      s.attnResBlockLayers === null ? 'one running sum' : `blocks of ${s.attnResBlockLayers} layers`,
    ),
    row('context', (s) => s.contextTokens),
    row('format of routed experts', (s) => s.precision.routedExperts.name.toUpperCase()),
    row('bytes a token and layer, a row per choice', (s) => `${wireBytes(s).toLocaleString('en-US')} B`),
    row('bytes a token, all layers, a row per choice', (s) => wireBytes(s) * routedLayers(s), 'bytes'),
    row('checkpoint', checkpointBytes, 'bytes'),
    row(`routed weights of a rank, ${RANKS} ranks`, (s) => routedBytes(s) / RANKS, 'bytes'),
    row('kept for a sequence of 4 K tokens', (s) => stateBytes(s, 4096, 'bf16').total, 'bytes'),
    row('kept for a sequence of 128 K tokens', (s) => stateBytes(s, CONTEXT, 'bf16').total, 'bytes'),
    row('FLOPs of attention for the next token at 4 K', (s) => attentionFlops(s, 1, 4096), 'count'),
    row('FLOPs of attention for the next token at 128 K', (s) => attentionFlops(s, 1, CONTEXT), 'count'),
  ];
}

/** Kimi K3's mechanisms and context at full size, and Kimi K2 beside it. */
export function fullScale(): Scale {
  const k3 = modelPresets['kimi-k3'];
  const k2 = modelPresets['kimi-k2'];
  return {
    model: k3.name,
    contextTokens: CONTEXT,
    mechanisms: mechanisms(k3),
    context: contextRows(k3),
    ledger: { models: [k2.name, k3.name], rows: ledger([k2, k3]) },
  };
}
