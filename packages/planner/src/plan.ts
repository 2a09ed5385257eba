/**
 * The planner's answer: layouts best first, the frontier, why the rest fell out and what would bring them back.
 * One idea: everything is a number with where it comes from; what nobody stated is an assumption in words.
 */

import { activeParamCount, checkpointBytes, paramCount } from '@epsim/model';
import { plural, type Scenario } from '@epsim/spec';
import { enumerateLayouts, mostRanks } from './candidates.js';
import { comparedLayouts, fleetByRate } from './comparison.js';
import { doubtfulObjectives } from './doubts.js';
import { createPlanErrors, dominantText, type FindErrors } from './errors/plan-errors.js';
import { launchAll, launchPools } from './launch/index.js';
import { type Layout, layoutName, layoutNotes, layoutRanks } from './layout.js';
import { type LoadSample, sampleLoads } from './load-sample.js';
import { missText, relaxation } from './objectives.js';
import type { CapacityPlan, FrontierLayout, PlanDetail, PlannedLayout } from './plan-schema.js';
import { requestOf, searchOf } from './plan-search.js';
import { assumptionsOf, sourcesOf } from './plan-words.js';
import type { Pools } from './pools.js';
import type { Evaluated, Fallen, Search, Serving } from './search.js';
import { sensitivityOf } from './sensitivity.js';
import { searchUnderLoad } from './serving/held.js';
import { type UnderLoad, underLoad } from './serving/under-load.js';
import { createStepModel } from './step-time.js';

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
  const most = mostRanks(scenario);
  const { layouts, refused } = enumerateLayouts(scenario, most);
  const step = createStepModel(scenario, sample, request.engine.mtpLayers);
  const on = searchOf(scenario, step, options.onProgress);
  const found = searchUnderLoad(layouts, on);
  const { evaluated: ordered } = found;
  const [first] = ordered;
  const feasible = first !== undefined && first.misses.length === 0;
  const fit = ordered.filter(({ misses }) => misses.length === 0);
  const near = fit.slice(0, MOST_NEAR);
  const errors = createPlanErrors(scenario);
  const planned = [
    ...ordered.map((one) => plannedOf(one, near, errors)),
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
    ...frontierOf([...fit, ...found.points], errors),
    best:
      chosen === undefined
        ? null
        : detailOf(chosen, chosen.load ?? underLoad(chosen, on), scenario, on, options, errors),
    compared: comparedLayouts(scenario, fit),
    fleetByRate: chosen === undefined ? [] : fleetByRate(chosen),
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

function poolOf(layout: Layout): Pick<PlannedLayout, 'layout' | 'degrees' | 'ranks'> {
  return { layout: layoutName(layout), degrees: layout, ranks: layoutRanks(layout) };
}

function plannedOf(one: Evaluated, fit: readonly Evaluated[], errors: FindErrors): PlannedLayout {
  const { layout, decode, prefill, economics, misses } = one;
  const feasible = misses.length === 0;
  const { bars, both } = errors(one);
  const { load } = one;
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
    relErrorBar: bars.tokensPerSecPerRank,
    relErrorBars: bars,
    errorFrom: dominantText(both),
    refined: one.fidelity === 'refined',
    simulated: load === undefined ? null : simulatedOf(load),
  };
}

function simulatedOf({ ratePerSec, ttftNs, tpotNs, slotFraction }: UnderLoad): PlannedLayout['simulated'] {
  return { ratePerSec, ttftNs, tpotNs, slotFraction };
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
    ...{ watts: null, fleet: null, relErrorBar: null, relErrorBars: null, errorFrom: null },
    ...{ refined: false, simulated: null },
    memoryBytesPerRank:
      one.memoryBytes ?? pools.memory.fullestBytes(one.layout, pools.use('decode', one.layout, 1)),
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
  return { change: `${layoutName(other)} on ${plural(layoutRanks(other), 'rank')}, ${how}, is feasible` };
}

/** Other points that are kept beside the frontier, spread evenly over their speeds. */
const MOST_POINTS = 300;

/** The points that no other beats in both speed and throughput, slow ones first; and some of the others. */
export function frontierOf(
  points: readonly Evaluated[],
  errors: FindErrors,
): Pick<CapacityPlan, 'frontier' | 'points'> {
  const fastest = [...points].sort(
    (a, b) =>
      a.decode.tpotNs - b.decode.tpotNs || b.economics.tokensPerSecPerRank - a.economics.tokensPerSecPerRank,
  );
  const frontier: Evaluated[] = [];
  const others: Evaluated[] = [];
  let most = 0;
  for (const one of fastest) {
    const { tokensPerSecPerRank } = one.economics;
    if (tokensPerSecPerRank > most) frontier.push(one);
    else others.push(one);
    most = Math.max(most, tokensPerSecPerRank);
  }
  const point = (one: Evaluated): FrontierLayout => ({
    ...{ layout: layoutName(one.layout), serving: one.serving, sequencesPerGroup: one.decode.sequences },
    tokensPerSecPerRank: one.economics.tokensPerSecPerRank,
    tokensPerSecPerUser: 1e9 / one.decode.tpotNs,
    relErrorBar: errors(one).bars.tokensPerSecPerRank,
  });
  const stride = Math.max(1, Math.ceil(others.length / MOST_POINTS));
  return {
    frontier: frontier.reverse().map(point),
    points: others.filter((_, i) => i % stride === 0).map(point),
  };
}

function detailOf(
  chosen: Evaluated,
  load: UnderLoad,
  scenario: Scenario,
  { pools, step }: Search,
  options: PlanOptions,
  errors: FindErrors,
): PlanDetail {
  const { decode, prefill, memory, layout } = chosen;
  return {
    memory: { ...memory, usableBytes: pools.usableBytes },
    stepNs: decode.step.totalNs,
    step: decode.step.parts,
    prefillStep: prefill?.step.parts ?? null,
    underLoad: load,
    errors: errors(chosen),
    notes: [
      ...layoutNotes(scenario.model, layout),
      ...doubtfulObjectives(chosen, errors(chosen).bars, pools),
    ],
    launch: launchPools(chosen, scenario, pools.plan).map((pool) => ({
      pool,
      engines: launchAll(pool, '$MODEL'),
    })),
    sensitivity: options.sensitivity === false ? [] : sensitivityOf(chosen, scenario, step),
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
