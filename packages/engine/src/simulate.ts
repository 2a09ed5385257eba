/**
 * The step loop: for each layer of each step, tokens are routed, placed and planned once; the plan is timed on
 * the target cluster, and in the last steps carried for real. One record per layer and step.
 * Two things go back between steps, the router's bias and the placement; everything else flows one way.
 */
import { expertSizes } from '@epsim/model';
import { type Moves, moves } from '@epsim/placement';
import { loadMeasures } from '@epsim/results';
import {
  createRoutingArena,
  maxVioFloor,
  type Router,
  type RouterContext,
  type RoutingPolicy,
} from '@epsim/routing';
import type { DispatchPlan, Placement, Routing, Scenario, StepRecord } from '@epsim/spec';
import { rowBytes } from '@epsim/tensor';
import type { Workload } from '@epsim/workload';
import type { CarrySession } from './carry/session.js';
import { catalog, type EngineCatalog } from './catalog.js';
import { choicesPerExpert, PlacementKeeper } from './placement-keeper.js';
import { choicesPerRank, type DispatchOptions, dedupRatio, planDispatch } from './plan/dispatch-plan.js';
import { sliceRouting } from './plan/slice-routing.js';
import { tierBytes } from './plan/tier-bytes.js';
import { RunTotals } from './run-totals.js';
import { createTimeModel, type TimedLayer, type TimeModel, timeLayer } from './timed/time-layer.js';
import { timeMove } from './timed/time-move.js';

export interface SimulationOptions {
  /** Reads a file that the scenario names (a trace, a load table). */
  readonly readFile?: (path: string) => Uint8Array;
  /** Carries the last steps, where the scenario asks for it. */
  readonly carry?: Pick<CarrySession, 'carry'>;
  /** The registries that the scenario's names are looked up in; the product's own unless said. */
  readonly catalog?: EngineCatalog;
  /** False leaves out all times. */
  readonly timed?: boolean;
}

/** One run of a scenario. Read `records` to the end; the totals are those of the records read so far. */
export class Simulation {
  readonly workload: Workload;
  readonly time: TimeModel;
  /** Sums over the whole steps so far. */
  readonly totals: RunTotals;
  private readonly routers: Router[];
  private readonly baselines: Router[] | null;
  private readonly keeper: PlacementKeeper;
  /** Weights of one routed expert as stored. */
  private readonly expertBytes: number;
  private reuse: DispatchPlan | undefined;

  constructor(
    readonly scenario: Scenario,
    private readonly options: SimulationOptions = {},
  ) {
    const { cluster, model, workload, seed, layers } = scenario;
    const names = options.catalog ?? catalog;
    this.workload = names.workload[workload.kind].create(
      {
        seed,
        rankCount: cluster.rankCount,
        tokensPerRank: workload.tokensPerRank,
        expertCount: model.moe.expertCount,
        topK: model.moe.topK,
        layers,
        modelName: model.name,
        ...(options.readFile ? { readFile: options.readFile } : {}),
      },
      workload.options,
    );
    this.time = createTimeModel(scenario, names);
    this.expertBytes = expertSizes(model.moe, model.precision.routedExperts).weightBytes;
    this.totals = new RunTotals(cluster.rankCount, this.time.topology.links);
    const { policy, baseline, options: policyOptions } = scenario.routing;
    this.routers = createRouters(scenario, names.routing[policy], policyOptions);
    this.baselines =
      baseline === null || baseline === policy ? null : createRouters(scenario, names.routing[baseline], {});
    this.keeper = new PlacementKeeper(
      scenario,
      names.placement[scenario.placement.policy],
      this.time.rankSpeed,
    );
  }

  async *records(): AsyncGenerator<StepRecord> {
    await this.keeper.ready();
    for (let step = 0; step < this.scenario.steps; step++) {
      for (let layer = 0; layer < this.scenario.layers; layer++) {
        const record = await this.layerStep(step, layer);
        if (layer === this.scenario.layers - 1) this.totals.endStep();
        yield record;
      }
    }
  }

  private async layerStep(step: number, layer: number): Promise<StepRecord> {
    const batch = this.workload.batch(step, layer);
    const { routing, stats, paddedTokens } = this.routers[layer].route(batch);
    const { placement, moved } = this.keeper.place(step, layer, routing);
    const split = this.keeper.split(placement, routing);
    const plan = this.plan(routing, split, this.reuse);
    this.reuse = plan;
    const expertLoad = choicesPerExpert(routing);
    const rankLoad = choicesPerRank(plan);
    const timed = this.timeOf(plan, placement);
    const prefetch = this.prefetch(placement, split, timed);
    const record: StepRecord = {
      step,
      layer,
      tokens: routing.tokenOffsets[routing.tokenOffsets.length - 1] - paddedTokens,
      paddedTokens,
      routing: stats,
      expertLoad: [...expertLoad],
      expertLoadMeasures: loadMeasures(expertLoad),
      maxVioFloor: maxVioFloor(expertLoad.length, loadMeasures(expertLoad).mean),
      rankLoad: [...rankLoad],
      rankLoadMeasures: loadMeasures(rankLoad),
      activatedExperts: activatedSlots(plan),
      bytes: { ...tierBytes(plan, this.time.topology, timed.linkBytes), dedupRatio: dedupRatio(plan) },
      move: this.moveRecord(moved, prefetch, timed),
      timed: this.options.timed === false ? null : this.timedRecord(timed, prefetch.ns),
      baseline: this.baselineRecord(layer, step, placement),
      carried: await this.carryRecord(routing, placement, step, layer),
    };
    this.keeper.observe(step, layer, expertLoad);
    this.totals.addLayer(plan, timed);
    return record;
  }

  /** Weights that travel: to a new placement, whose time stands beside the steps, and ahead of this batch. */
  private moveRecord(
    moved: Moves | null,
    prefetch: StepRecord['move'],
    timed: TimedLayer,
  ): StepRecord['move'] {
    const { move, everySteps } = this.scenario.placement;
    const besideSteps = move === 'background' ? everySteps : 0;
    const rebalance = timeMove(this.time, moved, this.expertBytes, timed, besideSteps);
    return {
      slots: rebalance.slots + prefetch.slots,
      bytes: rebalance.bytes + prefetch.bytes,
      ns: rebalance.ns,
    };
  }

  /**
   * Experts fetched into the slots that a policy fills anew for each batch. The batch waits for them, or, when
   * moves run in the background, for what they hold up, so their time is part of the step.
   */
  private prefetch(placement: Placement, split: Placement, timed: TimedLayer): StepRecord['move'] {
    const filled =
      split.slotExpert === placement.slotExpert
        ? null
        : moves(placement, split, this.scenario.cluster.topology.domainRanks);
    const besideSteps = this.scenario.placement.move === 'background' ? 1 : 0;
    return timeMove(this.time, filled, this.expertBytes, timed, besideSteps);
  }

  private plan(routing: Routing, placement: Placement, reuse?: DispatchPlan): DispatchPlan {
    return planDispatch(routing, placement, dispatchOptions(this.scenario), reuse);
  }

  /** Times the plan; where the batch is cut in parts, each part is split over `placement` by itself. */
  private timeOf(plan: DispatchPlan, placement: Placement): TimedLayer {
    const parts = this.time.overlap.microBatches;
    if (parts === 1) return timeLayer(this.time, [plan]);
    const plans = Array.from({ length: parts }, (_, i) => {
      const routing = sliceRouting(plan.routing, (n) => [
        Math.floor((n * i) / parts),
        Math.floor((n * (i + 1)) / parts),
      ]);
      return this.plan(routing, this.keeper.split(placement, routing));
    });
    return timeLayer(this.time, plans);
  }

  /** Nobody measured a copy of whole experts: the links are taken as dispatch finds them, with twice its error bar. */
  private timedRecord(timed: TimedLayer, prefetchNs: number): StepRecord['timed'] {
    const { source, relErrorBar } = timed.phases.dispatch;
    const prefetch = {
      ns: prefetchNs,
      provenance: 'derived' as const,
      source: `weights over the links of dispatch: ${source}`,
      relErrorBar: relErrorBar === null ? null : 2 * relErrorBar,
    };
    return {
      stepNs: timed.stepNs + prefetchNs,
      phases: prefetchNs > 0 ? { ...timed.phases, prefetch } : timed.phases,
      stragglerIdleFraction: timed.stragglerIdleFraction,
    };
  }

  private baselineRecord(layer: number, step: number, placement: Placement): StepRecord['baseline'] {
    if (!this.baselines) return null;
    const { routing } = this.baselines[layer].route(this.workload.batch(step, layer));
    const split = this.keeper.split(placement, routing);
    const plan = this.plan(routing, split);
    const timed = this.timeOf(plan, placement);
    return {
      policy: this.scenario.routing.baseline!,
      expertLoadMeasures: loadMeasures(choicesPerExpert(routing)),
      rankLoadMeasures: loadMeasures(choicesPerRank(plan)),
      stepNs: this.options.timed === false ? null : timed.stepNs + this.prefetch(placement, split, timed).ns,
    };
  }

  private async carryRecord(
    routing: Routing,
    placement: Placement,
    step: number,
    layer: number,
  ): Promise<StepRecord['carried']> {
    const { carry } = this.scenario;
    if (!carry || !this.options.carry || step < this.scenario.steps - carry.steps) return null;
    const part = sliceRouting(routing, (n) => [0, Math.min(n, carry.tokensPerRank)]);
    const plan = planDispatch(part, this.keeper.split(placement, part), carriedDispatch(this.scenario));
    return this.options.carry.carry(plan, step, layer);
  }
}

function createRouters(scenario: Scenario, policy: RoutingPolicy, options: unknown): Router[] {
  const { moe } = scenario.model;
  const arena = createRoutingArena();
  return Array.from({ length: scenario.layers }, (_, layer) => {
    const context: RouterContext = {
      expertCount: moe.expertCount,
      topK: moe.topK,
      scoring: moe.scoring,
      renormalize: moe.renormalize,
      routedScaling: moe.routedScaling,
      groupCount: moe.groupCount,
      topGroupCount: moe.topGroupCount,
      rankCount: scenario.cluster.rankCount,
      seed: scenario.seed,
      layer,
      arena,
    };
    return policy.create(context, options);
  });
}

/** How the timed half sends rows. */
export function dispatchOptions(scenario: Scenario): DispatchOptions {
  const { dispatch, model, cluster } = scenario;
  return {
    kind: dispatch.kind,
    replica: dispatch.replica,
    domainRanks: cluster.topology.domainRanks,
    dispatchRowBytes: rowBytes(dispatch.dispatchFormat, model.moe.expertWidth),
    combineRowBytes: rowBytes(dispatch.combineFormat, model.moe.expertWidth),
  };
}

/** How the carried half does: a forwarding hop inside a node is timed, not carried. */
export function carriedDispatch(scenario: Scenario): DispatchOptions {
  const { dispatch, carry, model } = scenario;
  const wire = carry?.rows === 'wire';
  return {
    ...dispatchOptions(scenario),
    kind: dispatch.kind === 'per-expert' ? 'per-expert' : 'per-rank',
    dispatchRowBytes: rowBytes(wire ? dispatch.dispatchFormat : 'fp32', model.moe.expertWidth),
    combineRowBytes: rowBytes(wire ? dispatch.combineFormat : 'fp32', model.moe.expertWidth),
  };
}

/** Slots of each rank that have at least one choice. */
function activatedSlots(plan: DispatchPlan): number[] {
  const { slotOffsets } = plan.placement;
  return Array.from({ length: plan.rankCount }, (_, rank) => {
    let active = 0;
    for (let s = slotOffsets[rank]; s < slotOffsets[rank + 1]; s++) if (plan.tokensPerSlot[s] > 0) active++;
    return active;
  });
}
