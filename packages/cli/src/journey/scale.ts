/**
 * Kimi K3 at full size as tables: its mechanisms, what a context costs it, and Kimi K2 beside it.
 * Its one idea: a context is costed three times with the same functions, for the model and for two that have
 * another mixer in every layer.
 */
import {
  activeParamCount,
  checkpointBytes,
  coreWork,
  paramCount,
  parameterList,
  stateBytes,
} from '@epsim/model';
import type { ContextRow, LedgerRow, Scale } from '@epsim/report';
import { type AttentionShape, type ModelShape, modelPresets } from '@epsim/spec';
import { CONTEXT, mechanisms, sumOf, wireBytes } from './mechanisms.js';

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
