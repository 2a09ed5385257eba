/**
 * Time of one step of a layout: a fast lower bound for searching, and the simulator's own schedule for the layouts
 * that are left.
 * One idea: both use the same durations. The bound follows one chain through a layer, that of the rank for which
 * it is longest; the schedule follows every rank through three layers and takes what the third adds.
 */
import { overlaps } from '@epsim/engine';
import { profileFor } from '@epsim/model';
import type { LayerShape, Scenario } from '@epsim/spec';
import { type Chain, createChains, type FindChain } from './chains.js';
import { exchangeNs } from './exchanges.js';
import { type LayerKind, layerKinds } from './layer-kinds.js';
import { microBatch, type OverlapName, steadyLayerNs } from './layer-schedule.js';
import { type Layout, stageRanks } from './layout.js';
import type { LoadSample } from './load-sample.js';
import { memo } from './memo.js';
import { createPlacer, createStages, type Stages, type StepPhase } from './stages.js';
import {
  createLocalModel,
  handoverBytes,
  type LocalModel,
  type LocalParts,
  type StepWork,
} from './step-parts.js';

/** Where the time of a step goes, ns summed over the layers of all stages; overlapped parts count in full. */
export interface StepParts {
  readonly attention: number;
  readonly dense: number;
  readonly shared: number;
  readonly experts: number;
  readonly dispatch: number;
  readonly combine: number;
  readonly tensorGroups: number;
  readonly head: number;
  readonly handover: number;
}

export interface StepTime {
  /** Of the slowest stage, which sets how often a pipeline yields. */
  readonly stageNs: number;
  /** From the first stage in to the last stage out. */
  readonly totalNs: number;
  readonly parts: StepParts;
}

export interface StepModel {
  readonly scenario: Scenario;
  readonly sample: LoadSample;
  readonly stages: Stages;
  /** Lower bound of a step. Throws RangeError where placement or topology refuse the layout. */
  bound(layout: Layout, work: StepWork, overlap: OverlapName): StepTime;
  /** The same step with every rank's clock; at least the bound. */
  refined(layout: Layout, work: StepWork, overlap: OverlapName): StepTime;
}

/** Multiprocessors that all-to-all kernels hold while other work runs beside them; low-latency ones hold none. DeepEP README. */
const EXCHANGE_SMS = 24;

/** What both forms of a step's time are made of. */
interface StepSource {
  readonly scenario: Scenario;
  readonly local: LocalModel;
  readonly stages: Stages;
  readonly chain: FindChain;
  readonly kinds: (pipeline: number) => readonly (readonly LayerKind[])[];
}

/** One layer of experts as a step comes to it. */
interface LayerAt {
  readonly layout: Layout;
  readonly overlap: OverlapName;
  readonly chain: Chain;
  readonly parts: LocalParts;
  /** Both collectives of a tensor-parallel group. */
  readonly groupNs: number;
  readonly tokensPerRank: number;
  readonly phase: StepPhase;
}

type LayerTime = (source: StepSource, at: LayerAt) => number;

/**
 * The step times of a scenario's model on its cluster. `stages` may be shared by scenarios that differ in nothing
 * but what their devices compute and what is asked of them.
 */
export function createStepModel(
  scenario: Scenario,
  sample: LoadSample,
  mtpLayers: number,
  stages: Stages = createStages(scenario, createPlacer(scenario, sample)),
): StepModel {
  const { model, cluster } = scenario;
  const profile = profileFor(cluster.device, model.precision.routedExperts);
  const source: StepSource = {
    scenario,
    stages,
    local: createLocalModel(model, cluster, profile),
    chain: createChains(scenario, sample, profile, stages),
    kinds: memo((pipeline: number) => layerKinds(model, pipeline, mtpLayers)),
  };
  return {
    ...{ scenario, sample, stages },
    bound: (layout, work, overlap) => stepTime(source, layout, work, overlap, boundNs),
    refined: (layout, work, overlap) => stepTime(source, layout, work, overlap, refinedNs),
  };
}

/** Times every stage, each kind of layer once. */
function stepTime(
  source: StepSource,
  layout: Layout,
  work: StepWork,
  overlap: OverlapName,
  layerTime: LayerTime,
): StepTime {
  const { scenario, local, kinds } = source;
  const { pipeline, attentionTensor } = layout;
  const { microBatches } = overlaps[overlap];
  const part = microBatches === 1 ? work : { ...work, sequences: work.sequences / microBatches };
  const timed = memo((layer: LayerShape) => timedLayer(source, layout, part, overlap, layer, layerTime));
  const headNs = local.head(attentionTensor, work.logitRows);
  const tokens = work.sequences * work.newTokens;
  const stages = kinds(pipeline);
  let handover = 0;
  let stageNs = 0;
  let totalNs = 0;
  for (let stage = 0; stage < pipeline; stage++) {
    const last = stage === pipeline - 1;
    let ns = last ? headNs : handoverNs(scenario, layout, stage, tokens);
    if (!last) handover += ns;
    for (const { layer, count } of stages[stage]) ns += count * timed(layer).ns;
    stageNs = Math.max(stageNs, ns);
    totalNs += ns;
  }
  return {
    ...{ stageNs, totalNs },
    // Few of the steps that a search times are asked for their parts.
    get parts() {
      return { ...partsOf(stages, timed, microBatches), head: headNs, handover };
    },
  };
}

/** A layer of one kind in a step. */
interface TimedLayer {
  /** With all its micro-batches. */
  readonly ns: number;
  /** Of one micro-batch. */
  readonly parts: LocalParts;
  readonly groupNs: number;
  readonly chain: Chain | null;
}

function timedLayer(
  source: StepSource,
  layout: Layout,
  part: StepWork,
  overlap: OverlapName,
  layer: LayerShape,
  layerTime: LayerTime,
): TimedLayer {
  const { local, stages, chain: chainOf } = source;
  const { attentionTensor, attentionData } = layout;
  const { phase } = part;
  const tokens = part.sequences * part.newTokens;
  const parts = local.layer(layer, attentionTensor, part);
  const grouped = layer.attention !== null && attentionTensor > 1;
  const groupNs = grouped ? 2 * exchangeNs(stages.group(layout), 0, tokens) : 0;
  if (layer.ffn?.kind !== 'moe') {
    const ns = overlaps[overlap].microBatches * (parts.attention + parts.before + groupNs);
    return { ns, parts, groupNs, chain: null };
  }
  const chain = chainOf(layout, tokens * attentionData, phase);
  const tokensPerRank = tokens / attentionTensor;
  const ns = layerTime(source, { layout, overlap, chain, parts, groupNs, tokensPerRank, phase });
  return { ns, parts, groupNs, chain };
}

/** What the layers of all stages are made of. */
function partsOf(
  stages: readonly (readonly LayerKind[])[],
  timed: (layer: LayerShape) => TimedLayer,
  microBatches: number,
): Omit<StepParts, 'head' | 'handover'> {
  const sums = { attention: 0, dense: 0, shared: 0, experts: 0, dispatch: 0, combine: 0, tensorGroups: 0 };
  for (const { layer, count } of stages.flat()) {
    const { parts, groupNs, chain } = timed(layer);
    const times = count * microBatches;
    sums.attention += times * parts.attention;
    sums.dense += times * (parts.before + parts.after);
    sums.shared += times * parts.shared;
    sums.tensorGroups += times * groupNs;
    if (chain === null) continue;
    sums.experts += times * chain.experts;
    sums.dispatch += times * chain.dispatch;
    sums.combine += times * chain.combine;
  }
  return sums;
}

/** How much longer computing takes while the other half of the batch travels. */
function slowdown({ cluster, dispatch }: Scenario, overlap: OverlapName): number {
  const { smCount } = cluster.device;
  if (overlaps[overlap].microBatches === 1 || dispatch.kind === 'per-expert' || smCount === undefined)
    return 1;
  return 1 / (1 - EXCHANGE_SMS / smCount);
}

/** No layer takes less: its longest chain, or where parts of a batch overlap, all its computing or all its rows. */
const boundNs: LayerTime = ({ scenario }, { overlap, chain, parts, groupNs }) => {
  const { dispatch, experts, combine } = chain;
  const { microBatches } = overlaps[overlap];
  if (microBatches > 1) {
    const compute = parts.attention + parts.before + experts + parts.shared + parts.after;
    const slow = slowdown(scenario, overlap);
    return microBatches * Math.max(compute * slow + groupNs, dispatch + combine);
  }
  const before = parts.attention + parts.before + groupNs;
  const out = overlap === 'shared-experts' ? Math.max(parts.shared, dispatch) : parts.shared + dispatch;
  return before + out + experts + combine + parts.after;
};

/** The schedule of every rank, with links shared fairly, averaged over the sampled layers. */
const refinedNs: LayerTime = (source, at) => {
  const { scenario, stages } = source;
  const { layout, overlap, chain, parts, groupNs, tokensPerRank, phase } = at;
  const stage = stages.fine(layout, phase);
  const slow = slowdown(scenario, overlap);
  const local = {
    before: slow * (parts.attention + parts.before) + groupNs,
    shared: slow * parts.shared,
    after: slow * parts.after,
  };
  let sum = 0;
  for (const times of chain.cases) {
    const experts = times.map((ns) => slow * ns);
    const batch = microBatch(stage, experts, local, tokensPerRank, layout.expertTensor);
    sum += steadyLayerNs(overlap, batch, stageRanks(layout));
  }
  return Math.max(boundNs(source, at), sum / chain.cases.length);
};

/** A group's tokens to the next stage: each rank sends its part, inside a domain where the instance fits in one. */
function handoverNs({ model, cluster }: Scenario, layout: Layout, stage: number, tokens: number): number {
  const { domainRanks, scaleUp, scaleOut } = cluster.topology;
  const inside = stageRanks(layout) * layout.pipeline <= domainRanks || scaleOut === null;
  const link = inside ? scaleUp : scaleOut;
  const bytes = (tokens * handoverBytes(model, stage, layout.pipeline)) / layout.attentionTensor;
  return link.latencyNs + (1e9 * bytes) / (link.bytesPerSec * link.achieved.fraction);
}
