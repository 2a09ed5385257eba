/**
 * The planner's answer: layouts best first, the frontier, why the rest fell out and what would bring them back.
 * One idea: everything is a number with where it comes from; what nobody stated is an assumption in words.
 */

import { activeParamCount, checkpointBytes, paramCount, profileFor } from '@epsim/model';
import { formatBytes, formatNs, type PlanRequest, type Scenario } from '@epsim/spec';
import { enumerateLayouts, mostRanks } from './candidates.js';
import { FLEET_LOAD, type Fleet } from './economics.js';
import { PREFILL_KERNEL_SHARE } from './engine-share.js';
import { type LauncherName, launchAll, launchPools } from './launch/index.js';
import type { Launch, LaunchPool } from './launch/launcher.js';
import { type Layout, layoutName, layoutNotes, layoutRanks } from './layout.js';
import { type LoadSample, sampleLoads } from './load-sample.js';
import type { RankMemory } from './memory.js';
import { type Miss, missText, relaxation } from './objectives.js';
import { requestOf, searchOf } from './plan-search.js';
import type { Pools } from './pools.js';
import type { Evaluated, Fallen, Serving } from './search.js';
import { type Sensitivity, sensitivityOf } from './sensitivity.js';
import { searchUnderLoad } from './serving/held.js';
import { type UnderLoad, underLoad } from './serving/under-load.js';
import { createPlacer, type OverlapName, type Placer, type StepParts } from './step-time.js';
import { END_TO_END_ERROR } from './validation/error.js';

export interface PlannedPool {
  readonly layout: string;
  readonly degrees: Layout;
  readonly ranks: number;
}

/** One layout with the largest batch that meets the objectives, or the one that misses them least. */
export interface PlannedLayout extends PlannedPool {
  readonly feasible: boolean;
  /** What is missed, or why nothing can be loaded. */
  readonly why?: string;
  /** The nearest layout that is feasible. */
  readonly change?: string;
  /** Prefill and decode in pools of their own, or together. */
  readonly serving: Serving;
  readonly prefill:
    | (PlannedPool & { readonly chunkTokens: number; readonly instancesPerDecode: number })
    | null;
  /** Micro-batch overlap: a name in the engine's registry. */
  readonly overlap: OverlapName | null;
  /** Resident sequences of each attention group. */
  readonly sequencesPerGroup: number | null;
  readonly ttftNs: number | null;
  readonly tpotNs: number | null;
  readonly tokensPerSecPerRank: number | null;
  readonly tokensPerSecPerUser: number | null;
  readonly memoryBytesPerRank: number | null;
  readonly costPerMillionTokens: number | null;
  readonly rankHoursPerMillionTokens: number | null;
  readonly watts: number | null;
  readonly fleet: Fleet | null;
  /** Median error of such predictions against published throughputs, as a fraction. */
  readonly relErrorBar: number | null;
  /** False where only the lower bound of its time was computed. */
  readonly refined: boolean;
}

export interface FrontierLayout {
  readonly layout: string;
  readonly serving: Serving;
  readonly sequencesPerGroup: number;
  readonly tokensPerSecPerRank: number;
  readonly tokensPerSecPerUser: number;
  readonly relErrorBar: number | null;
  readonly onFrontier: boolean;
}

/** The chosen layout in full. */
export interface PlanDetail {
  readonly memory: RankMemory & { readonly usableBytes: number };
  /** Of one decode step: ns by what they go into; overlapped parts count in full. */
  readonly stepNs: number;
  readonly step: StepParts;
  readonly prefillStep: StepParts | null;
  /** Under its load, requests waiting for one another. */
  readonly underLoad: UnderLoad;
  readonly notes: readonly string[];
  readonly sensitivity: readonly Sensitivity[];
  /** Launch arguments by engine, for each pool, prefill first. */
  readonly launch: readonly {
    readonly pool: LaunchPool;
    readonly engines: Readonly<Record<LauncherName, Launch>>;
  }[];
}

export interface CapacityPlan {
  readonly scenario: string;
  readonly model: {
    readonly name: string;
    readonly paramCount: number;
    readonly activeParamCount: number;
    readonly checkpointBytes: number;
  };
  readonly cluster: { readonly name: string; readonly device: string; readonly mostRanks: number };
  readonly request: PlanRequest;
  readonly feasible: boolean;
  /** Best first; where nothing is feasible, the closest first. */
  readonly layouts: readonly PlannedLayout[];
  /** Feasible points of speed and throughput, those that nothing beats in both marked. */
  readonly frontier: readonly FrontierLayout[];
  readonly best: PlanDetail | null;
  /** Where nothing is feasible: what the closest layout misses, and what would have to be allowed. */
  readonly closest: {
    readonly layout: string;
    readonly misses: readonly Miss[];
    readonly allow: readonly string[];
  } | null;
  readonly searched: {
    readonly candidates: number;
    readonly refused: number;
    readonly timed: number;
    readonly refined: number;
  };
  readonly assumptions: readonly string[];
  readonly sources: Readonly<Record<string, string>>;
}

export interface PlanOptions {
  readonly readFile?: (path: string) => Uint8Array;
  readonly onProgress?: (done: number, total: number) => void;
  /** Loads that were sampled before; the scenario's own workload unless said. */
  readonly sample?: LoadSample;
  /** False leaves out what moves the answer. */
  readonly sensitivity?: boolean;
}

/** Feasible layouts, best first, among which the nearest to an infeasible one is looked for. */
const MOST_NEAR = 200;

/** Plans the capacity that a scenario's `plan` section asks for. Throws RangeError where it has none. */
export function planCapacity(scenario: Scenario, options: PlanOptions = {}): CapacityPlan {
  const request = requestOf(scenario);
  const { model, cluster } = scenario;
  const sample = options.sample ?? sampleLoads(scenario, options.readFile);
  const placer = createPlacer(scenario, sample);
  const most = mostRanks(scenario);
  const { layouts, refused } = enumerateLayouts(scenario, most);
  const on = searchOf(scenario, sample, placer, options.onProgress);
  const { found, ordered, loads } = searchUnderLoad(layouts, on);
  const [first] = ordered;
  const feasible = first !== undefined && first.misses.length === 0;
  const fit = ordered.filter(({ misses }) => misses.length === 0);
  const near = fit.slice(0, MOST_NEAR);
  const planned = [
    ...ordered.map((one) => plannedOf(one, near)),
    ...found.fallen.map((one) => fallenOf(one, near, on.pools)),
  ];
  const chosen = feasible ? first : undefined;
  return {
    scenario: scenario.name,
    model: {
      name: model.name,
      paramCount: paramCount(model),
      activeParamCount: activeParamCount(model),
      checkpointBytes: checkpointBytes(model),
    },
    cluster: { name: cluster.name, device: cluster.device.name, mostRanks: most },
    request,
    feasible,
    layouts: planned,
    frontier: frontierOf([...fit, ...found.points]),
    best:
      chosen === undefined
        ? null
        : detailOf(
            chosen,
            loads.get(chosen) ?? underLoad(chosen, on),
            scenario,
            on.pools,
            options,
            sample,
            placer,
          ),
    closest: feasible ? null : closestOf(ordered[0], found.fallen, on.pools),
    searched: {
      candidates: planned.length,
      refused: refused.length,
      timed: found.timed,
      refined: found.refined,
    },
    assumptions: assumptionsOf(scenario, request, sample),
    sources: sourcesOf(scenario),
  };
}

function poolOf(layout: Layout): PlannedPool {
  return { layout: layoutName(layout), degrees: layout, ranks: layoutRanks(layout) };
}

function plannedOf(one: Evaluated, fit: readonly Evaluated[]): PlannedLayout {
  const { layout, decode, prefill, economics, misses } = one;
  const feasible = misses.length === 0;
  const { tokensPerSecPerRank, costPerMillionTokens, rankHoursPerMillionTokens, watts, fleet } = economics;
  return {
    ...poolOf(layout),
    feasible,
    ...(feasible ? {} : { why: misses.map(missText).join(', '), ...changeOf(layout, one.serving, fit) }),
    serving: one.serving,
    prefill: prefill && {
      ...poolOf(prefill.layout),
      chunkTokens: prefill.chunkTokens,
      instancesPerDecode: decode.requestsPerSec / prefill.requestsPerSec,
    },
    overlap: decode.overlap,
    sequencesPerGroup: decode.sequences,
    ttftNs: one.ttftNs,
    tpotNs: decode.tpotNs,
    tokensPerSecPerRank,
    tokensPerSecPerUser: 1e9 / decode.tpotNs,
    memoryBytesPerRank: one.memory.total,
    ...{ costPerMillionTokens, rankHoursPerMillionTokens, watts, fleet },
    relErrorBar: END_TO_END_ERROR,
    refined: one.fidelity === 'refined',
  };
}

function fallenOf(one: Fallen, fit: readonly Evaluated[], pools: Pools): PlannedLayout {
  const why = one.why ?? one.misses.map(missText).join(', ');
  return {
    ...poolOf(one.layout),
    ...{
      feasible: false,
      why,
      ...changeOf(one.layout, one.serving, fit),
      serving: one.serving,
      prefill: null,
    },
    ...{ overlap: null, sequencesPerGroup: null, ttftNs: null, tpotNs: null, tokensPerSecPerRank: null },
    ...{ tokensPerSecPerUser: null, costPerMillionTokens: null, rankHoursPerMillionTokens: null },
    ...{ watts: null, fleet: null, relErrorBar: null, refined: false },
    memoryBytesPerRank: one.memoryBytes ?? pools.decodeMemory(one.layout, 1).total,
  };
}

/** The feasible layout whose degrees are nearest, in doublings. */
function changeOf(layout: Layout, serving: Serving, fit: readonly Evaluated[]): { readonly change?: string } {
  let nearest: Evaluated | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const one of fit) {
    const { layout: other } = one;
    let distance = one.serving === serving ? 0 : 0.5;
    for (const degree of [
      'attentionTensor',
      'attentionData',
      'expertRanks',
      'expertTensor',
      'pipeline',
    ] as const) {
      distance += Math.abs(Math.log2(other[degree] / layout[degree]));
    }
    distance += other.redundantExperts === layout.redundantExperts ? 0 : 0.1;
    if (distance < least) [nearest, least] = [one, distance];
  }
  if (nearest === undefined) return {};
  const { layout: other, serving: how } = nearest;
  return { change: `${layoutName(other)} on ${layoutRanks(other)} ranks, ${how}, is feasible` };
}

/** Marks the points that no other beats in both speed and throughput; slow ones first. */
export function frontierOf(points: readonly Evaluated[]): readonly FrontierLayout[] {
  const sorted = [...points].sort(
    (a, b) =>
      a.decode.tpotNs - b.decode.tpotNs || b.economics.tokensPerSecPerRank - a.economics.tokensPerSecPerRank,
  );
  let most = 0;
  const marked = sorted.map((point) => {
    const { tokensPerSecPerRank } = point.economics;
    const onFrontier = tokensPerSecPerRank > most;
    most = Math.max(most, tokensPerSecPerRank);
    return {
      layout: layoutName(point.layout),
      serving: point.serving,
      sequencesPerGroup: point.decode.sequences,
      tokensPerSecPerRank,
      tokensPerSecPerUser: 1e9 / point.decode.tpotNs,
      relErrorBar: END_TO_END_ERROR,
      onFrontier,
    };
  });
  return marked.reverse();
}

function detailOf(
  chosen: Evaluated,
  load: UnderLoad,
  scenario: Scenario,
  pools: Pools,
  options: PlanOptions,
  sample: LoadSample,
  placer: Placer,
): PlanDetail {
  const { decode, prefill, memory, layout } = chosen;
  return {
    memory: { ...memory, usableBytes: pools.usableBytes },
    stepNs: decode.step.totalNs,
    step: decode.step.parts,
    prefillStep: prefill?.step.parts ?? null,
    underLoad: load,
    notes: layoutNotes(scenario.model, layout),
    launch: launchPools(chosen, scenario, pools.plan).map((pool) => ({
      pool,
      engines: launchAll(pool, '$MODEL'),
    })),
    sensitivity: options.sensitivity === false ? [] : sensitivityOf(chosen, scenario, sample, placer),
  };
}

function closestOf(
  closest: Evaluated | undefined,
  fallen: readonly Fallen[],
  pools: Pools,
): CapacityPlan['closest'] {
  if (closest !== undefined) {
    const { misses, layout } = closest;
    return { layout: layoutName(layout), misses, allow: misses.map(relaxation) };
  }
  const size = (one: Fallen) => one.memoryBytes ?? Number.POSITIVE_INFINITY;
  const [least] = [...fallen].sort((a, b) => size(a) - size(b));
  if (least === undefined) return null;
  const misses = [...least.misses];
  return {
    layout: layoutName(least.layout),
    misses,
    allow:
      misses.length > 0
        ? [...misses.map(relaxation), 'limits: more ranks']
        : [least.why ?? `${pools.usableBytes}`],
  };
}

function assumptionsOf(scenario: Scenario, plan: PlanRequest, sample: LoadSample): readonly string[] {
  const { requests, engine } = plan;
  const { device } = scenario.cluster;
  const price = plan.dollarsPerHour ?? scenario.cluster.dollarsPerHour;
  return [
    ...scenario.model.assumptions,
    ...sample.description,
    `decode steps see the mean context, ${requests.inputTokens} + ${Math.ceil(requests.outputTokens / 2)} tokens; memory holds whole requests`,
    `cache in ${engine.cacheFormat}, windows ${engine.windows}; ${formatBytes(engine.memoryFraction * device.memoryBytes)} of ${formatBytes(device.memoryBytes)} are used, ${formatBytes(engine.reserveBytes)} of it by libraries`,
    `${formatNs(engine.stepOverheadNs)} between steps; modelled kernels are ${100 * PREFILL_KERNEL_SHARE} % of a prefill step`,
    `${engine.acceptedTokens} tokens a decode step, ${engine.mtpLayers} extra prediction layers`,
    plan.objectives.quantile === null
      ? 'times are means without queueing: a prompt is computed as soon as it arrives; quantiles under load stand beside them'
      : 'arrivals are Poisson; layouts that were not simulated come after those that were',
    price === undefined || price === null
      ? 'nobody said what an accelerator costs: write plan.dollarsPerHour'
      : `$${price} an hour for one accelerator, idle ones too`,
    device.watts === undefined
      ? `the power of ${device.name} is not known`
      : `${device.watts} W for each accelerator, its rated power; hosts and cooling apart`,
    `a fleet loads its instances to ${100 * FLEET_LOAD} % at most; a plan without a rate prices full ones`,
    'every rank and link at its nominal speed: overrides of the cluster are left out',
  ];
}

function sourcesOf({ model, cluster }: Scenario): Readonly<Record<string, string>> {
  const profile = profileFor(cluster.device, model.precision.routedExperts);
  const { scaleUp, scaleOut } = cluster.topology;
  return {
    model: model.source,
    device: cluster.device.source,
    experts: `${profile.provenance}: ${profile.source}`,
    attention: `derived: roofline of ${cluster.device.name} at fractions of ${profile.name}`,
    scaleUp: `${scaleUp.achieved.provenance}: ${scaleUp.achieved.source}`,
    ...(scaleOut === null
      ? {}
      : { scaleOut: `${scaleOut.achieved.provenance}: ${scaleOut.achieved.source}` }),
    error: `median error against published serving throughputs: ${(100 * END_TO_END_ERROR).toFixed(0)} %`,
  };
}
