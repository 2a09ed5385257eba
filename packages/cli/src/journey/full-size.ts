/**
 * Kimi K3 beside the miniature: its sizes, and one layer of it planned at full size on synthetic scores.
 * Nothing here comes from the miniature's run, and everything says so.
 */
import { catalog, dispatchOptions, planDispatch, Simulation } from '@epsim/engine';
import {
  activeParamCount,
  blockCount,
  cacheElementsPerToken,
  chooseExperts,
  orthogonalizeFlops,
  paramCount,
  patternGroups,
  stateBytes,
} from '@epsim/model';
import { placementPolicies } from '@epsim/placement';
import type { BalancePart, FullSizePart, WidthPart } from '@epsim/report';
import { type ModelShape, modelPresets, parseScenario, type Scenario } from '@epsim/spec';
import { balanceRounds, widthPart } from './width.js';

const fullSize = modelPresets['kimi-k3'];

type Attention<K extends string> = Extract<
  NonNullable<ModelShape['layers'][number]['attention']>,
  { kind: K }
>;

function attentionOf<K extends 'kda' | 'mla'>(shape: ModelShape, kind: K): Attention<K> {
  const found = shape.layers.find((layer) => layer.attention?.kind === kind)?.attention;
  if (found === undefined || found === null) throw new RangeError(`${shape.name} has no ${kind}`);
  return found as Attention<K>;
}

/** Kimi K3 from its sizes alone. */
export function fullSizePart(): FullSizePart {
  const kda = attentionOf(fullSize, 'kda');
  const mla = attentionOf(fullSize, 'mla');
  const mlaLayers = fullSize.layers.filter((layer) => layer.attention?.kind === 'mla').length;
  const empty = stateBytes(fullSize, 0, 'bf16');
  const inner = kda.headCount * kda.headDim;
  return {
    source: 'fullSizeShape',
    name: fullSize.name,
    layers: fullSize.layers.length,
    kdaLayers: fullSize.layers.length - mlaLayers,
    mlaLayers,
    groups: patternGroups(fullSize) ?? 0,
    hiddenSize: fullSize.hiddenSize,
    vocabulary: fullSize.vocabSize,
    contextTokens: fullSize.contextTokens,
    paramCount: paramCount(fullSize),
    activeParamCount: activeParamCount(fullSize),
    visionLayers: fullSize.vision?.layerCount ?? 0,
    kdaHeads: kda.headCount,
    kdaHeadDim: kda.headDim,
    kdaStateBytes: empty.recurrent + empty.conv,
    mlaLatentRank: mla.kvLoraRank,
    mlaSharedKeySize: mla.ropeHeadDim,
    cacheBytesPerToken: 2 * mlaLayers * cacheElementsPerToken(mla),
    blockLayers: fullSize.attnResBlockLayers ?? 0,
    blockCount: blockCount(fullSize.layers.length, fullSize.attnResBlockLayers ?? 1),
    expertCount: fullSize.moe.expertCount,
    topK: fullSize.moe.topK,
    expertWidth: fullSize.moe.expertWidth,
    muonFlopsPerHead: orthogonalizeFlops(inner, fullSize.hiddenSize, kda.headDim),
    muonFlopsWhole: orthogonalizeFlops(inner, fullSize.hiddenSize, inner),
  };
}

/** Tokens of each rank of the full-size plan, and rounds of balancing on its frozen scores. */
const TOKENS_PER_RANK = 64;
const ROUNDS = 4;

function planScenario(seed: number): Scenario {
  const text = `
name: k3-journey-plan
seed: ${seed}
model: kimi-k3
phase: decode
cluster: { preset: b200-8, ranks: 8 }
workload: { tokensPerRank: ${TOKENS_PER_RANK}, skew: { kind: log-normal, sigma: 1 } }
routing: { policy: top-k }
placement: { policy: contiguous }
dispatch: { kind: per-rank }
layers: 1
steps: 1
`;
  return parseScenario(text, {
    file: 'the plan of a journey',
    catalog,
    readFile: () => {
      throw new RangeError('the plan of a journey names no file');
    },
  });
}

/** Router scores of every token, rank by rank, [tokens x experts]. */
function syntheticScores(scenario: Scenario): Float32Array {
  const { rankCount } = scenario.cluster;
  const { expertCount } = scenario.model.moe;
  const batch = new Simulation(scenario, { timed: false }).workload.batch(0, 0);
  const scores = new Float32Array(batch.tokenOffsets[rankCount] * expertCount);
  for (let rank = 0; rank < rankCount; rank++) {
    const from = batch.tokenOffsets[rank] * expertCount;
    const to = batch.tokenOffsets[rank + 1] * expertCount;
    batch.readLogits(rank, scores.subarray(from, to));
  }
  return scores.map((logit) => 1 / (1 + Math.exp(-logit)));
}

/** One layer of K3 on 8 ranks: planned, not carried, with the bias of a balanced batch. */
export function fullSizePlan(seed: number): {
  readonly width: WidthPart;
  readonly balance: BalancePart;
  readonly words: string;
} {
  const scenario = planScenario(seed);
  const { moe } = fullSize;
  const { rankCount } = scenario.cluster;
  const scores = syntheticScores(scenario);
  const { rounds, bias } = balanceRounds(scores, fullSize, ROUNDS);
  const choices = chooseExperts(scores, bias, moe);
  const tokens = rankCount * TOKENS_PER_RANK;
  const options = dispatchOptions(scenario);
  const placement = placementPolicies.contiguous.place(
    {
      loads: new Float64Array(moe.expertCount).fill(1),
      rankCount,
      slotsPerRank: new Int32Array(rankCount).fill(moe.expertCount / rankCount),
      domainRanks: rankCount,
      seed,
      layer: 0,
    },
    {},
  );
  const tokenOffsets = Int32Array.from({ length: rankCount + 1 }, (_, rank) => rank * TOKENS_PER_RANK);
  const plan = planDispatch(
    {
      expertCount: moe.expertCount,
      topK: moe.topK,
      width: moe.topK,
      tokenOffsets,
      experts: choices.experts,
      weights: choices.weights,
      droppedChoices: 0,
    },
    placement,
    options,
  );
  const width = widthPart({
    source: 'fullSizePlan',
    shape: fullSize,
    layer: 1,
    scores,
    bias,
    plan,
    focus: 0,
    rowBytes: { dispatch: options.dispatchRowBytes, combine: options.combineRowBytes },
    carriedBytes: null,
  });
  return {
    width,
    balance: {
      source: 'fullSizePlan',
      model: fullSize.name,
      layer: 1,
      tokens,
      topK: moe.topK,
      rounds,
    },
    words: `Kimi K3 at full size, one layer planned and not carried: ${tokens} tokens on ${rankCount} ranks, synthetic router scores with a log-normal skew, seed ${seed}; rows ${scenario.dispatch.dispatchFormat} out and ${scenario.dispatch.combineFormat} back.`,
  };
}
