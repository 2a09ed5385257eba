/**
 * Models side by side: their sizes, and what they need of the same ranks. Nothing is run for it.
 * Its one idea: every figure is computed by the functions that planner and time model use, from published sizes.
 */
import { dispatchOptions } from '@epsim/engine';
import { activeParamCount, checkpointBytes, coreWork, paramCount, stateBytes } from '@epsim/model';
import { createMemoryModel, type Layout } from '@epsim/planner';
import type { Ledger } from '@epsim/results';
import type { ModelShape, Scenario } from '@epsim/spec';
import type { Point } from './variations.js';

type LedgerRow = Ledger['rows'][number];

/** Tokens of sequences that are costed. */
const SHORT_CONTEXT = 4096;
export const LONG_CONTEXT = 131_072;

/** Bytes of one token in one layer, out in FP8 with a scale per 128 and back in BF16, a row per choice. */
export function wireBytes({ moe }: ModelShape): number {
  return moe.topK * (moe.expertWidth + 4 * Math.ceil(moe.expertWidth / 128) + 2 * moe.expertWidth);
}

/** FLOPs of attention proper, projections apart, for new tokens that end a sequence of `contextTokens`. */
export function attentionFlops(shape: ModelShape, newTokens: number, contextTokens: number): number {
  return shape.layers.reduce(
    (sum, { attention }) =>
      attention === null ? sum : sum + coreWork(attention, { sequences: 1, newTokens, contextTokens }).flops,
    0,
  );
}

function attentionWords(shape: ModelShape): string {
  const counts = new Map<string, number>();
  for (const { attention } of shape.layers) {
    const kind = attention?.kind.toUpperCase() ?? 'none';
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return [...counts].map(([kind, count]) => `${count} ${kind}`).join(' + ');
}

const activations: Readonly<Record<ModelShape['activation'], string>> = {
  situ: 'SiTU-GLU',
  swiglu: 'SwiGLU',
  gelu: 'GELU',
  relu2: 'squared ReLU',
};

function rowMaker<T>(columns: readonly T[]) {
  return (name: string, of: (column: T) => number | string, unit: LedgerRow['unit'] = null): LedgerRow => ({
    ...{ name, unit },
    values: columns.map(of),
  });
}

/** Sizes of each model, a column each, named by `columns`. */
export function modelLedger(columns: readonly string[], shapes: readonly ModelShape[]): Ledger {
  const row = rowMaker(shapes);
  const routedLayers = (shape: ModelShape) => shape.layers.filter(({ ffn }) => ffn?.kind === 'moe').length;
  const kept = (tokens: number) => (s: ModelShape) => stateBytes(s, tokens, 'bf16').total;
  return {
    title: 'models, from their published sizes',
    columns: [...columns],
    rows: [
      row('layers', (s) => s.layers.length),
      row('of them with experts', routedLayers),
      row('parameters', paramCount, 'count'),
      row('active for a token', activeParamCount, 'count'),
      row('experts in a layer', (s) => s.moe.expertCount),
      row('selected', (s) => s.moe.topK),
      row('sparsity: experts to one selected', (s) => s.moe.expertCount / s.moe.topK),
      row('shared experts', (s) => s.moe.sharedExpertCount),
      row('width of a row that travels', (s) => s.moe.expertWidth),
      row('inner size of an expert', (s) => s.moe.expertInnerSize),
      row('hidden width', (s) => s.hiddenSize),
      row('attention', attentionWords),
      row('activation', (s) => activations[s.activation]),
      row('depth', (s) =>
        s.attnResBlockLayers === null ? 'one running sum' : `blocks of ${s.attnResBlockLayers} layers`,
      ),
      row('context', (s) => s.contextTokens),
      row('format of routed experts', (s) => s.precision.routedExperts.name.toUpperCase()),
      row('bytes a token and layer, a row per choice', wireBytes),
      row('bytes a token, all layers, a row per choice', (s) => wireBytes(s) * routedLayers(s), 'bytes'),
      row('checkpoint', checkpointBytes, 'bytes'),
      row('kept for a sequence of 4 K tokens', kept(SHORT_CONTEXT), 'bytes'),
      row('kept for a sequence of 128 K tokens', kept(LONG_CONTEXT), 'bytes'),
      row('FLOPs of attention, next token at 4 K', (s) => attentionFlops(s, 1, SHORT_CONTEXT), 'count'),
      row('FLOPs of attention, next token at 128 K', (s) => attentionFlops(s, 1, LONG_CONTEXT), 'count'),
    ],
  };
}

/** The whole model on the scenario's ranks: attention repeated on each, experts dealt over all of them. */
function memoryOf(scenario: Scenario) {
  const { model, cluster, placement } = scenario;
  const { rankCount } = cluster;
  const { slots, slotsPerRank } = placement;
  const most = typeof slotsPerRank === 'number' ? slotsPerRank : Math.max(0, ...(slotsPerRank ?? []));
  const layout: Layout = {
    ...{ attentionTensor: 1, attentionData: rankCount, pipeline: 1 },
    ...{ expertRanks: rankCount, expertTensor: 1 },
    redundantExperts: Math.max(0, (slots ?? most * rankCount) - model.moe.expertCount),
  };
  const { dispatchRowBytes, combineRowBytes, kind: dispatchKind } = dispatchOptions(scenario);
  const memory = createMemoryModel(model, {
    ...{ cacheFormat: 'bf16', windows: 'kept', mtpLayers: 0, reserveBytes: 0 },
    ...{ dispatchKind, dispatchRowBytes, combineRowBytes },
  });
  const idle = { sequences: 0, contextTokens: 0, tokensPerStep: 0, logitRows: 0 };
  const { weights, redundantExperts } = memory.rank(layout, idle, 0, 0);
  const routed = (weights['routed-expert'] ?? 0) + redundantExperts;
  const all = Object.values(weights).reduce((sum, bytes) => sum + bytes, 0) + redundantExperts;
  const left = Math.max(0, cluster.device.memoryBytes - all);
  const sequences = (tokens: number) => Math.floor(left / memory.sequenceBytes(layout, tokens));
  return { routed, rest: all - routed, left, sequences };
}

/** What each scenario's whole model leaves of its ranks' memory, a column each. */
export function memoryLedger(columns: readonly string[], scenarios: readonly Scenario[]): Ledger {
  const row = rowMaker(scenarios.map((scenario) => ({ scenario, ...memoryOf(scenario) })));
  return {
    title: 'memory of the fullest rank: all layers, attention repeated on every rank, experts dealt out',
    columns: [...columns],
    rows: [
      row('ranks', ({ scenario }) => scenario.cluster.rankCount),
      row('device', ({ scenario }) => scenario.cluster.device.name),
      row('its memory', ({ scenario }) => scenario.cluster.device.memoryBytes, 'bytes'),
      row('routed experts', ({ routed }) => routed, 'bytes'),
      row('all other weights', ({ rest }) => rest, 'bytes'),
      row('left for sequences, activations and buffers', ({ left }) => left, 'bytes'),
      row('sequences of 4 K tokens that it would hold', ({ sequences }) => sequences(SHORT_CONTEXT)),
      row('sequences of 128 K tokens that it would hold', ({ sequences }) => sequences(LONG_CONTEXT)),
    ],
  };
}

/** Both ledgers of the models that the points of a comparison differ in; none where all have the same one. */
export function ledgersOf(
  points: readonly { readonly values: Point; readonly scenario: Scenario }[],
): readonly Ledger[] {
  const first = new Map<string, (typeof points)[number]>();
  for (const point of points) {
    const { model, cluster, placement } = point.scenario;
    const key = JSON.stringify([model, cluster, placement.slotsPerRank, placement.slots]);
    if (!first.has(key)) first.set(key, point);
  }
  const columns = [...first.values()];
  const models = new Map(columns.map(({ scenario }) => [JSON.stringify(scenario.model), scenario.model]));
  if (models.size < 2) return [];
  const shapes = [...models.values()];
  const ownNames = new Set(shapes.map(({ name }) => name)).size === shapes.length;
  const nameOf = ({ values, scenario }: (typeof points)[number]) =>
    ownNames && models.size === columns.length ? scenario.model.name : Object.values(values).join(', ');
  const ofModel = shapes.map((shape) => columns.find(({ scenario }) => scenario.model === shape)!);
  return [
    modelLedger(ofModel.map(nameOf), shapes),
    memoryLedger(
      columns.map(nameOf),
      columns.map(({ scenario }) => scenario),
    ),
  ];
}
