/**
 * Time of one step of a layout: a fast lower bound for searching, and the simulator's own schedule for the layouts
 * that are left.
 * One idea: both use the same durations. The bound follows one chain through a layer, that of the rank for which
 * it is longest; the schedule follows every rank through three layers and takes what the third adds.
 */
import { overlaps } from '@epsim/engine';
import { profileFor } from '@epsim/model';
import type { Scenario } from '@epsim/spec';
import {
  type Chain,
  type Chains,
  createChains,
  createPlacer,
  type Placer,
  type StepPhase,
} from './chains.js';
import { type LayerKind, layerKinds } from './layer-kinds.js';
import { microBatch, type OverlapName, steadyLayerNs } from './layer-schedule.js';
import { type Layout, stageRanks } from './layout.js';
import type { LoadSample } from './load-sample.js';
import { memo } from './memo.js';
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
  readonly chains: Chains;
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
 * The step times of a scenario's model on its cluster. `placer` may be shared by scenarios that differ in nothing
 * but their cluster's speeds.
 */
export function createStepModel(
  scenario: Scenario,
  sample: LoadSample,
  mtpLayers: number,
  placer: Placer = createPlacer(scenario, sample),
): StepModel {
  const { model, cluster } = scenario;
  const profile = profileFor(cluster.device, model.precision.routedExperts);
  const source: StepSource = {
    scenario,
    local: createLocalModel(model, cluster, profile),
    chains: createChains(scenario, sample, profile, placer),
    kinds: memo((pipeline: number) => layerKinds(model, pipeline, mtpLayers)),
  };
  return {
    scenario,
    sample,
    bound: (layout, work, overlap) => stepTime(source, layout, work, overlap, boundNs),
    refined: (layout, work, overlap) => stepTime(source, layout, work, overlap, refinedNs),
  };
}

type Sums = { -readonly [Part in keyof StepParts]: number };

/** Sums the layers of every stage, each kind of layer timed once. */
function stepTime(
  source: StepSource,
  layout: Layout,
  work: StepWork,
  overlap: OverlapName,
  layerTime: LayerTime,
): StepTime {
  const { scenario, local, kinds } = source;
  const { pipeline, attentionTensor } = layout;
  const halves = overlaps[overlap].microBatches;
  const part = halves === 1 ? work : { ...work, sequences: work.sequences / halves };
  const sums: Sums = {
    ...{ attention: 0, dense: 0, shared: 0, experts: 0, dispatch: 0, combine: 0, tensorGroups: 0 },
    head: local.head(attentionTensor, work.logitRows),
    handover: 0,
  };
  let stageNs = 0;
  let totalNs = 0;
  for (const [stage, list] of kinds(pipeline).entries()) {
    const last = stage === pipeline - 1;
    let ns = last ? sums.head : handoverNs(scenario, layout, stage, work.sequences * work.newTokens);
    if (!last) sums.handover += ns;
    for (const kind of list) ns += layersNs(source, layout, part, overlap, kind, layerTime, sums);
    stageNs = Math.max(stageNs, ns);
    totalNs += ns;
  }
  return { stageNs, totalNs, parts: sums };
}

/** All layers of one kind in a stage; adds what they are made of to `sums`. */
function layersNs(
  source: StepSource,
  layout: Layout,
  part: StepWork,
  overlap: OverlapName,
  { layer, count }: LayerKind,
  layerTime: LayerTime,
  sums: Sums,
): number {
  const { local, chains } = source;
  const tokens = part.sequences * part.newTokens;
  const times = count * overlaps[overlap].microBatches;
  const parts = local.layer(layer, layout.attentionTensor, part);
  const groupNs = layer.attention === null ? 0 : 2 * chains.groupNs(layout, tokens);
  sums.attention += times * parts.attention;
  sums.dense += times * (parts.before + parts.after);
  sums.shared += times * parts.shared;
  sums.tensorGroups += times * groupNs;
  if (layer.ffn?.kind !== 'moe') return times * (parts.attention + parts.before + groupNs);
  const { phase } = part;
  const chain = chains.chain(layout, tokens * layout.attentionData, phase);
  sums.experts += times * chain.experts;
  sums.dispatch += times * chain.dispatch;
  sums.combine += times * chain.combine;
  const tokensPerRank = tokens / layout.attentionTensor;
  return count * layerTime(source, { layout, overlap, chain, parts, groupNs, tokensPerRank, phase });
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
  const { scenario, chains } = source;
  const { layout, overlap, chain, parts, groupNs, tokensPerRank, phase } = at;
  const stage = chains.fineStage(layout, phase);
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
