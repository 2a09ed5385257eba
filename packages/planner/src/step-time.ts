/**
 * Time of one step of a layout: a fast lower bound for searching, and the simulator's own schedule for the layouts
 * that are left.
 * One idea: both use the same durations. The bound follows one chain through a layer, that of the rank for which
 * it is longest; the schedule follows every rank through three layers and takes what the third adds.
 */
import { type MicroBatch, type Op, overlaps, schedule } from '@epsim/engine';
import { profileFor } from '@epsim/model';
import { networkModels } from '@epsim/network';
import type { Scenario } from '@epsim/spec';
import { type ExchangeLine, exchangeLine, exchangeNs, groupBytes, stageTopology } from './exchanges.js';
import { layerKinds } from './layer-kinds.js';
import { type Layout, stageRanks } from './layout.js';
import type { LoadSample } from './load-sample.js';
import { cutExpertSizes, expertTimes, type PlacedExperts, placeExperts } from './placed-experts.js';
import { createLocalModel, handoverBytes, type LocalParts, type StepWork } from './step-parts.js';

export type OverlapName = keyof typeof overlaps;

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

/** One stage's exchanges of a layout. */
interface Stage {
  readonly placed: PlacedExperts;
  readonly dispatch: ExchangeLine;
  readonly combine: ExchangeLine;
}

/** Mean over sampled layers of the longest chain: its exchanges and experts; and all ranks' experts. */
interface Chain {
  readonly dispatch: number;
  readonly experts: number;
  readonly combine: number;
  readonly cases: readonly Float64Array[];
}

/** Multiprocessors that all-to-all kernels hold while other work runs beside them; low-latency ones hold none. DeepEP README. */
const EXCHANGE_SMS = 24;

const mean = (values: readonly number[]) => values.reduce((sum, v) => sum + v, 0) / values.length;

/** Places the experts of layouts, each kind of them once. */
export type Placer = (layout: Layout) => PlacedExperts;

export function createPlacer(scenario: Scenario, sample: LoadSample): Placer {
  return keyed((layout) => placeExperts(scenario, sample, layout));
}

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
  const local = createLocalModel(model, cluster, profile);
  const kinds = memo((pipeline: number) => layerKinds(model, pipeline, mtpLayers));
  const topologies = memo((ranks: number) => stageTopology(cluster, ranks));
  const stageOf = (network: keyof typeof networkModels) =>
    keyed((layout): Stage => {
      const topology = topologies(stageRanks(layout));
      const experts = placer(layout);
      const line = (bytes: Float64Array) => exchangeLine(networkModels[network], topology, bytes);
      return { placed: experts, dispatch: line(experts.dispatchBytes), combine: line(experts.combineBytes) };
    });
  const [stages, fineStages] = [stageOf('bound'), stageOf('fair-share')];
  const sizes = memo((expertTensor: number) => cutExpertSizes(scenario, { expertTensor } as Layout, profile));
  const chains = new Map<string, Chain>();
  const chainOf = (layout: Layout, tokens: number): Chain => {
    const key = `${expertKey(layout)} ${tokens}`;
    const known = chains.get(key) ?? findChain(layout, tokens);
    chains.set(key, known);
    return known;
  };
  const findChain = (layout: Layout, tokens: number): Chain => {
    const stage = stages(layout);
    const cases = expertTimes(
      stage.placed,
      sample,
      tokens,
      sizes(layout.expertTensor),
      cluster.device,
      profile,
    );
    const perRank = tokens / stageRanks(layout);
    const longest = cases.map((experts) => longestChain(stage, experts, perRank, layout.expertTensor));
    return {
      dispatch: mean(longest.map((c) => c.dispatch)),
      experts: mean(longest.map((c) => c.experts)),
      combine: mean(longest.map((c) => c.combine)),
      cases,
    };
  };
  const groups = keyedBy(
    (layout: Layout) => `${stageRanks(layout)} ${layout.attentionTensor}`,
    (layout: Layout): ExchangeLine => {
      const ranks = stageRanks(layout);
      const bytes = groupBytes(ranks, layout.attentionTensor, 2 * model.hiddenSize);
      return exchangeLine(networkModels.bound, topologies(ranks), bytes);
    },
  );
  /** A reduce-scatter after the mixer, or the gather before it, of a group's tokens. */
  const groupNs = (layout: Layout, tokens: number): number =>
    layout.attentionTensor === 1 ? 0 : exchangeNs(groups(layout), 0, tokens);

  const step = (
    layout: Layout,
    work: StepWork,
    name: OverlapName,
    layerNs: (chain: Chain, parts: LocalParts, group: number, perRank: number) => number,
  ): StepTime => {
    const halves = overlaps[name].microBatches;
    const part = halves === 1 ? work : { ...work, sequences: work.sequences / halves };
    const tokens = part.sequences * part.newTokens;
    const sums = { attention: 0, dense: 0, shared: 0, experts: 0, dispatch: 0, combine: 0, tensorGroups: 0 };
    let stageNs = 0;
    let totalNs = 0;
    let handover = 0;
    const head = local.head(layout.attentionTensor, work.logitRows);
    for (const [stage, list] of kinds(layout.pipeline).entries()) {
      let ns = stage === layout.pipeline - 1 ? head : 0;
      for (const { layer, count } of list) {
        const parts = local.layer(layer, layout.attentionTensor, part);
        const group = layer.attention === null ? 0 : 2 * groupNs(layout, tokens);
        sums.attention += count * halves * parts.attention;
        sums.dense += count * halves * (parts.before + parts.after);
        sums.shared += count * halves * parts.shared;
        sums.tensorGroups += count * halves * group;
        if (layer.ffn?.kind !== 'moe') {
          ns += count * halves * (parts.attention + parts.before + group);
          continue;
        }
        const chain = chainOf(layout, tokens * layout.attentionData);
        sums.experts += count * halves * chain.experts;
        sums.dispatch += count * halves * chain.dispatch;
        sums.combine += count * halves * chain.combine;
        ns += count * layerNs(chain, parts, group, tokens / layout.attentionTensor);
      }
      if (stage < layout.pipeline - 1) {
        const hop = handoverNs(scenario, layout, stage, tokens * halves);
        handover += hop;
        ns += hop;
      }
      stageNs = Math.max(stageNs, ns);
      totalNs += ns;
    }
    return { stageNs, totalNs, parts: { ...sums, head, handover } };
  };

  const { smCount } = cluster.device;
  const holdsSms = scenario.dispatch.kind !== 'per-expert' && smCount !== undefined;
  /** How much longer computing takes while the other half of the batch travels. */
  const slowdown = (name: OverlapName): number =>
    overlaps[name].microBatches > 1 && holdsSms ? 1 / (1 - EXCHANGE_SMS / smCount) : 1;

  const boundNs = (name: OverlapName) => (chain: Chain, parts: LocalParts, group: number) => {
    const { dispatch, experts, combine } = chain;
    if (overlaps[name].microBatches > 1) {
      const compute = parts.attention + parts.before + experts + parts.shared + parts.after;
      return overlaps[name].microBatches * Math.max(compute * slowdown(name) + group, dispatch + combine);
    }
    const before = parts.attention + parts.before + group;
    const out = name === 'shared-experts' ? Math.max(parts.shared, dispatch) : parts.shared + dispatch;
    return before + out + experts + combine + parts.after;
  };

  const refinedNs =
    (layout: Layout, name: OverlapName) =>
    (chain: Chain, parts: LocalParts, group: number, perRank: number): number => {
      const stage = fineStages(layout);
      const bound = boundNs(name)(chain, parts, group);
      const slow = slowdown(name);
      const local = {
        attention: 0,
        before: slow * (parts.attention + parts.before) + group,
        shared: slow * parts.shared,
        after: slow * parts.after,
      };
      const times = chain.cases.map((cases) => {
        const experts = cases.map((ns) => slow * ns);
        const batch = microBatch(stage, experts, local, perRank, layout.expertTensor);
        return steadyLayerNs(name, batch, stageRanks(layout));
      });
      return Math.max(bound, mean(times));
    };

  return {
    scenario,
    sample,
    bound: (layout, work, overlap) => step(layout, work, overlap, boundNs(overlap)),
    refined: (layout, work, overlap) => step(layout, work, overlap, refinedNs(layout, overlap)),
  };
}

/** Of all ranks the one whose rows, experts and results take longest one after another. */
function longestChain(stage: Stage, experts: Float64Array, tokens: number, expertTensor: number) {
  let longest = { dispatch: 0, experts: 0, combine: 0 };
  let most = -1;
  for (let rank = 0; rank < experts.length * expertTensor; rank++) {
    const own = experts[Math.floor(rank / expertTensor)];
    const dispatch = exchangeNs(stage.dispatch, rank, tokens);
    const combine = exchangeNs(stage.combine, rank, tokens);
    if (dispatch + own + combine <= most) continue;
    most = dispatch + own + combine;
    longest = { dispatch, experts: own, combine };
  }
  return longest;
}

function microBatch(
  stage: Stage,
  experts: Float64Array,
  parts: LocalParts,
  tokens: number,
  expertTensor: number,
): MicroBatch {
  const ranks = experts.length * expertTensor;
  const all = (ns: number) => new Float64Array(ranks).fill(ns);
  const at = (start: Float64Array, slope: Float64Array) => start.map((ns, r) => ns + tokens * slope[r]);
  const { dispatch, combine, placed } = stage;
  return {
    pre: all(parts.before),
    shared: all(parts.shared),
    experts: Float64Array.from({ length: ranks }, (_, r) => experts[Math.floor(r / expertTensor)]),
    post: all(parts.after),
    dispatchSentNs: at(dispatch.sentStart, dispatch.sentPerToken),
    dispatchReceivedNs: at(dispatch.receivedStart, dispatch.receivedPerToken),
    combineSentNs: at(combine.sentStart, combine.sentPerToken),
    combineReceivedNs: at(combine.receivedStart, combine.receivedPerToken),
    sends: Uint8Array.from(placed.dispatchBytes, (bytes) => (bytes > 0 ? 1 : 0)),
  };
}

/** What one more layer adds when layers follow one another: three layers less two. */
function steadyLayerNs(name: OverlapName, batch: MicroBatch, ranks: number): number {
  const endOf = (layers: number) => {
    const { program, microBatches } = overlaps[name];
    const batches = Array.from({ length: layers * microBatches }, () => batch);
    return Math.max(...schedule(layersInARow(program, microBatches, layers), batches, ranks).endNs);
  };
  return endOf(3) - endOf(2);
}

/**
 * The program of several layers: the end of a layer and the start of the next follow each other batch by batch,
 * so that one half of the batch may travel while the other ends its layer.
 */
export function layersInARow(program: readonly Op[], microBatches: number, layers: number): readonly Op[] {
  const inLayer = (op: Op, layer: number): Op => ({ ...op, batch: layer * microBatches + op.batch });
  const of = (names: readonly Op['name'][], batch: number) =>
    program.filter((op) => names.includes(op.name) && op.batch === batch);
  const middle = program.filter((op) => !['pre', 'dispatch', 'post'].includes(op.name));
  const batches = Array.from({ length: microBatches }, (_, b) => b);
  const heads = (layer: number, b: number) => of(['pre', 'dispatch'], b).map((op) => inLayer(op, layer));
  const tails = (layer: number, b: number) => of(['post'], b).map((op) => inLayer(op, layer));
  const out: Op[] = batches.flatMap((b) => heads(0, b));
  for (let layer = 0; layer < layers; layer++) {
    out.push(...middle.map((op) => inLayer(op, layer)));
    for (const b of batches) {
      out.push(...tails(layer, b));
      if (layer + 1 < layers) out.push(...heads(layer + 1, b));
    }
  }
  return out;
}

/** A group's tokens to the next stage: each rank sends its part, inside a domain where the instance fits in one. */
function handoverNs({ model, cluster }: Scenario, layout: Layout, stage: number, tokens: number): number {
  const { domainRanks, scaleUp, scaleOut } = cluster.topology;
  const inside = stageRanks(layout) * layout.pipeline <= domainRanks || scaleOut === null;
  const link = inside ? scaleUp : scaleOut;
  const bytes = (tokens * handoverBytes(model, stage, layout.pipeline)) / layout.attentionTensor;
  return link.latencyNs + (1e9 * bytes) / (link.bytesPerSec * link.achieved.fraction);
}

/** What tells the experts of two layouts apart. */
function expertKey({ expertRanks, expertTensor, redundantExperts }: Layout): string {
  return `${expertRanks} ${expertTensor} ${redundantExperts}`;
}

const keyed = <V>(find: (layout: Layout) => V) => keyedBy(expertKey, find);

function keyedBy<V>(keyOf: (layout: Layout) => string, find: (layout: Layout) => V): (layout: Layout) => V {
  const known = new Map<string, V>();
  return (layout) => {
    const key = keyOf(layout);
    const value = known.get(key) ?? find(layout);
    known.set(key, value);
    return value;
  };
}

function memo<K, V>(find: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>();
  return (key) => {
    const value = known.get(key) ?? find(key);
    known.set(key, value);
    return value;
  };
}
