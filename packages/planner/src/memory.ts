/**
 * Device memory of every rank of a layout, to the byte, by what it is for.
 * One idea: weights are the model's own parameter list, each tensor divided by the ranks that share it and
 * repeated on those that do not; what sequences leave behind is the model's own state arithmetic.
 * Activations and buffers depend on the engine and are stated bounds. Knows nothing of time.
 */
import { type StateFormat, stateBytes, type TensorClass } from '@epsim/model';
import type { ModelShape } from '@epsim/spec';
import { expertPadding, type Layout, slotsOfLayout, stageLayers, stageRanks } from './layout.js';
import { memo, memoBy } from './memo.js';
import { type StageSum, stageSums } from './stage-tensors.js';

/** Rows of hidden width that a layer has alive at once: the stream, its norm, a mixer's in and out. */
const LIVE_ROWS = 4;
const ACTIVATION_BYTES = 2;
/** Tokens of a sequence whose cache gives the bytes of a token: a power of two, long beside every window. */
const LONG_SEQUENCE = 2 ** 20;
const LOGIT_BYTES = 4;
/** Rows that a buffer has room for, over the mean that arrives, where it is not sized for the worst case. */
const BUFFER_HEADROOM = 2;

/** What runs on an instance at once. */
export interface MemoryUse {
  /** Sequences of one attention group that are resident, those of all micro-batches together. */
  readonly sequences: number;
  /** Tokens that each sequence holds. */
  readonly contextTokens: number;
  /** Tokens of one attention group that pass a layer together. */
  readonly tokensPerStep: number;
  /** Sequences of one attention group whose next token is computed in a step. */
  readonly logitRows: number;
}

/** What stays the same for all layouts. */
export interface MemoryTerms {
  readonly cacheFormat: StateFormat;
  readonly windows: 'kept' | 'unified';
  /** Extra prediction layers that are loaded and cached. */
  readonly mtpLayers: number;
  /** Communication libraries, runtime context and graphs, of every rank. */
  readonly reserveBytes: number;
  readonly dispatchKind: 'per-expert' | 'per-rank' | 'per-node';
  readonly dispatchRowBytes: number;
  readonly combineRowBytes: number;
}

export interface RankMemory {
  /** Weights by tensor class; experts in redundant slots apart. */
  readonly weights: Readonly<Partial<Record<TensorClass, number>>>;
  readonly redundantExperts: number;
  /** Of all resident sequences: what grows with tokens, recurrent states, tails of convolutions. */
  readonly cache: number;
  readonly recurrent: number;
  readonly conv: number;
  readonly activations: number;
  readonly dispatchBuffers: number;
  readonly reserve: number;
  readonly total: number;
}

export interface MemoryModel {
  readonly model: ModelShape;
  readonly terms: MemoryTerms;
  /** Memory of one rank of `stage` that belongs to expert rank `group`. */
  rank(layout: Layout, use: MemoryUse, stage: number, group: number): RankMemory;
  /** Memory of the rank that needs most, and which stage it is in. */
  fullest(layout: Layout, use: MemoryUse): RankMemory & { readonly stage: number };
  /** Bytes of that rank alone, for searches. */
  fullestBytes(layout: Layout, use: MemoryUse): number;
  /** State that one more sequence of `contextTokens` takes on a rank of the stage that pays most for it. */
  sequenceBytes(layout: Layout, contextTokens: number): number;
}

/** The memory of `model`; sums of its parameter list are kept between calls. */
export function createMemoryModel(model: ModelShape, terms: MemoryTerms): MemoryModel {
  const sumsOf = memo((pipeline: number) => stageSums(model, pipeline, terms.mtpLayers));
  const stateOf = memoBy(
    ({
      layout,
      tokens,
      stage,
    }: {
      readonly layout: Layout;
      readonly tokens: number;
      readonly stage: number;
    }) => `${layout.pipeline} ${stage} ${layout.attentionTensor} ${tokens}`,
    ({ layout, tokens, stage }) => stateOfStage(model, terms, layout, tokens, stage),
  );
  const live = liveRows(model);
  const weightsOn = memoBy(
    ({ layout, stage, group }: { readonly layout: Layout; readonly stage: number; readonly group: number }) =>
      `${layout.attentionTensor} ${layout.attentionData} ${layout.expertTensor} ${layout.pipeline} ${layout.redundantExperts} ${stage} ${group}`,
    ({ layout, stage, group }) => weightsOf(model, layout, sumsOf(layout.pipeline)[stage], group),
  );
  const total = (layout: Layout, use: MemoryUse, stage: number, group: number): number => {
    const state = stateOf({ layout, tokens: use.contextTokens, stage });
    const { held } = weightsOn({ layout, stage, group });
    const fixed = activationBytes(live, layout, use) + bufferBytes(model, terms, layout, use);
    return held + use.sequences * state.total + fixed + terms.reserveBytes;
  };
  const rank: MemoryModel['rank'] = (layout, use, stage, group) => {
    const { weights, redundantExperts } = weightsOn({ layout, stage, group });
    const state = stateOf({ layout, tokens: use.contextTokens, stage });
    return {
      ...{ weights, redundantExperts },
      cache: use.sequences * state.cache,
      recurrent: use.sequences * state.recurrent,
      conv: use.sequences * state.conv,
      activations: activationBytes(live, layout, use),
      dispatchBuffers: bufferBytes(model, terms, layout, use),
      reserve: terms.reserveBytes,
      total: total(layout, use, stage, group),
    };
  };
  // Larger shares of uneven slots come first, so the first expert rank of a stage holds most.
  const fullestStage = (
    layout: Layout,
    use: MemoryUse,
  ): { readonly stage: number; readonly bytes: number } => {
    let most = { stage: 0, bytes: total(layout, use, 0, 0) };
    for (let stage = 1; stage < layout.pipeline; stage++) {
      const bytes = total(layout, use, stage, 0);
      if (bytes > most.bytes) most = { stage, bytes };
    }
    return most;
  };
  return {
    ...{ model, terms, rank },
    fullest(layout, use) {
      const { stage } = fullestStage(layout, use);
      return { ...rank(layout, use, stage, 0), stage };
    },
    fullestBytes: (layout, use) => fullestStage(layout, use).bytes,
    sequenceBytes: (layout, tokens) =>
      Math.max(
        ...Array.from({ length: layout.pipeline }, (_, stage) => stateOf({ layout, tokens, stage }).total),
      ),
  };
}

/** State of one sequence in the layers of a stage, on one rank. */
function stateOfStage(
  model: ModelShape,
  { cacheFormat, windows, mtpLayers }: MemoryTerms,
  layout: Layout,
  tokens: number,
  stage: number,
) {
  const layers = model.layers.slice(...stageLayers(model.layers.length, layout.pipeline, stage));
  const last = stage === layout.pipeline - 1;
  return stateBytes({ ...model, layers }, tokens, cacheFormat, {
    windows,
    tensorWays: layout.attentionTensor,
    mtpLayers: last ? mtpLayers : 0,
  });
}

/**
 * How many ranks of a stage hold the same bytes of a line; the copies of expert slots are counted as redundant
 * experts instead. Latents, norms and routers are whole on each rank, heads on each attention group.
 */
export function copiesOf(sum: Pick<StageSum, 'split' | 'mostWays'>, layout: Layout): number {
  const { attentionTensor, attentionData } = layout;
  if (sum.split === 'experts') return 1;
  if (sum.split === 'replicated') return stageRanks(layout);
  return attentionData * Math.max(1, attentionTensor / sum.mostWays);
}

/** Weights of one rank: its share of every line of its stage. */
function weightsOf(
  model: ModelShape,
  layout: Layout,
  sums: readonly StageSum[],
  group: number,
): Pick<RankMemory, 'weights' | 'redundantExperts'> & { readonly held: number } {
  const { expertCount } = model.moe;
  const slots = slotsOfLayout(expertCount, layout)[group];
  const own = slotsOfLayout(expertCount, { ...layout, redundantExperts: 0 })[group];
  const weights: Partial<Record<TensorClass, number>> = {};
  let redundantExperts = 0;
  let held = 0;
  for (const sum of sums) {
    let bytes = (sum.bytes * copiesOf(sum, layout)) / stageRanks(layout);
    if (sum.split === 'experts') {
      const perSlot = (sum.bytes * expertPadding(model, layout)) / expertCount / layout.expertTensor;
      bytes = perSlot * own;
      redundantExperts += perSlot * (slots - own);
    }
    weights[sum.tensorClass] = (weights[sum.tensorClass] ?? 0) + bytes;
    held += bytes;
  }
  return { weights, redundantExperts, held: held + redundantExperts };
}

/**
 * The rows of one layer that are alive at once, and the logits. A bound for engines that reuse buffers between
 * layers: `LIVE_ROWS` of the hidden width, the widest inner row, the blocks that attention residuals keep.
 */
function activationBytes(rows: LiveRows, layout: Layout, use: MemoryUse): number {
  const ways = layout.attentionTensor;
  const row = rows.whole + rows.cut / ways;
  return use.tokensPerStep * row * ACTIVATION_BYTES + (use.logitRows * rows.logits * LOGIT_BYTES) / ways;
}

/** Elements of one token that a layer leaves behind when it is computed again, and all that are alive inside it. */
export function activationElements(
  model: ModelShape,
  ways: number,
): { readonly stored: number; readonly live: number } {
  const { whole, cut } = liveRows(model);
  return { stored: model.residualStreams * model.hiddenSize, live: whole + cut / ways };
}

/** Elements of one token that are alive in a layer: whole on every rank of a group, cut over them, and its logits. */
interface LiveRows {
  readonly whole: number;
  readonly cut: number;
  readonly logits: number;
}

function liveRows(model: ModelShape): LiveRows {
  const { hiddenSize, moe, layers, attnResBlockLayers, residualStreams, vocabSize } = model;
  const dense = Math.max(0, ...layers.map(({ ffn }) => (ffn?.kind === 'dense' ? ffn.innerSize : 0)));
  const inner = 2 * Math.max(dense, moe.sharedExpertCount * moe.sharedInnerSize);
  const mixer = Math.max(...layers.map(({ attention }) => mixerWidth(attention)));
  const blocks = attnResBlockLayers === null ? 0 : Math.ceil(layers.length / attnResBlockLayers);
  const expertRows = 2 * moe.topK * (moe.expertWidth + moe.expertInnerSize);
  return {
    whole: (LIVE_ROWS + blocks + residualStreams - 1) * hiddenSize,
    cut: Math.max(inner, mixer) + expertRows,
    logits: vocabSize,
  };
}

/** Elements of queries, keys, values and gate of one token. */
function mixerWidth(attention: ModelShape['layers'][number]['attention']): number {
  if (attention === null) return 0;
  switch (attention.kind) {
    case 'mla': {
      const { headCount, nopeHeadDim, ropeHeadDim, valueHeadDim } = attention;
      return headCount * (2 * (nopeHeadDim + ropeHeadDim) + 2 * valueHeadDim);
    }
    case 'gqa':
      return 2 * (attention.headCount + attention.kvHeadCount) * attention.headDim;
    case 'shared-kv-mqa':
      return (
        2 * attention.headCount * attention.headDim + attention.outputGroupCount * attention.outputLoraRank
      );
    case 'kda':
    case 'mamba2':
      return 5 * attention.headCount * attention.headDim;
    case 'gated-delta-net':
      return (2 * attention.keyHeadCount + 3 * attention.valueHeadCount) * attention.headDim;
  }
}

/**
 * Room for rows that arrive and for results that come back. Per expert: every token of the stage for every slot,
 * as low-latency kernels allocate. Otherwise twice the mean of what arrives, at most one row of every token.
 */
function bufferBytes(model: ModelShape, terms: MemoryTerms, layout: Layout, use: MemoryUse): number {
  if (layout.expertRanks === 1 && layout.expertTensor === 1) return 0;
  const rowBytes = terms.dispatchRowBytes + terms.combineRowBytes;
  const { attentionData, attentionTensor } = layout;
  const stageTokens = use.tokensPerStep * attentionData;
  if (terms.dispatchKind === 'per-expert') {
    return slotsOfLayout(model.moe.expertCount, layout)[0] * stageTokens * rowBytes;
  }
  const mean = (use.tokensPerStep / attentionTensor) * model.moe.topK * layout.expertTensor;
  return Math.min(stageTokens, BUFFER_HEADROOM * mean) * rowBytes;
}

/**
 * Tokens that the cache of an instance holds when each of its ranks has `freeBytes` left for it, and no
 * sequence crosses attention groups. Latents are not cut by tensor parallelism: it adds no room for them.
 */
export function cacheTokens(
  model: ModelShape,
  layout: Layout,
  freeBytes: number,
  terms: Pick<MemoryTerms, 'cacheFormat' | 'windows' | 'mtpLayers'>,
): number {
  let perToken = 0;
  for (let stage = 0; stage < layout.pipeline; stage++) {
    const full: MemoryTerms = {
      ...terms,
      reserveBytes: 0,
      dispatchKind: 'per-rank',
      dispatchRowBytes: 0,
      combineRowBytes: 0,
    };
    const long = stateOfStage(model, { ...full, windows: 'unified' }, layout, LONG_SEQUENCE, stage).cache;
    perToken = Math.max(perToken, long / LONG_SEQUENCE);
  }
  return layout.attentionData * Math.floor(freeBytes / perToken);
}

/** How many ranks hold a checkpoint by its weights alone, and what whole domains of them come to. */
export function leastRanksByWeights(
  weightBytes: number,
  usableBytesPerRank: number,
  domainRanks: number,
): { readonly ranks: number; readonly ranksInWholeDomains: number } {
  if (!(usableBytesPerRank > 0) || !(weightBytes > 0)) {
    throw new RangeError(
      `leastRanksByWeights: ${weightBytes} B of weights on ranks of ${usableBytesPerRank} B; both must be above 0`,
    );
  }
  const ranks = Math.ceil(weightBytes / usableBytesPerRank);
  return { ranks, ranksInWholeDomains: Math.ceil(ranks / domainRanks) * domainRanks };
}
