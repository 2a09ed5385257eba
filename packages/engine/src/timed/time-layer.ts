/**
 * Times one layer of one step on the target cluster: the plan's bytes through the network model, its tokens per
 * slot through the accelerator model, and both through the schedule.
 */
import { denseLayerParts, expertComputeTime } from '@epsim/model';
import type { NetworkModel, Topology, Transfer } from '@epsim/network';
import type { DispatchPlan, Estimate, Scenario } from '@epsim/spec';
import type { EngineCatalog } from '../catalog.js';
import { addEstimates } from './estimates.js';
import { createExchange, type Exchange } from './exchanges.js';
import type { Overlap } from './overlaps.js';
import { type MicroBatch, type OpName, type Schedule, schedule } from './schedule.js';

export interface TimedLayer {
  readonly stepNs: number;
  readonly phases: Readonly<Record<string, Estimate>>;
  readonly stragglerIdleFraction: number;
  /** Bytes over each link, out and back, [links]. */
  readonly linkBytes: Float64Array;
  readonly schedule: Schedule;
  /** Bytes over each link in each exchange, in the order of the micro-batches. */
  readonly exchanges: readonly { readonly dispatch: Float64Array; readonly combine: Float64Array }[];
}

/** The target cluster of a scenario, built once. */
export interface TimeModel {
  readonly scenario: Scenario;
  readonly topology: Topology;
  readonly network: NetworkModel;
  readonly overlap: Overlap;
  readonly dispatch: Exchange;
  readonly combine: Exchange;
  /** Relative compute speed, [rankCount]. */
  readonly rankSpeed: Float64Array;
}

export function createTimeModel(scenario: Scenario, names: EngineCatalog): TimeModel {
  const rankSpeed = new Float64Array(scenario.cluster.rankCount).fill(1);
  for (const { rank, speed } of scenario.cluster.overrides) if (speed !== undefined) rankSpeed[rank] = speed;
  const kind = names.topology[scenario.cluster.topology.kind];
  const network = names.networkModels[scenario.time.network];
  const choice = names.exchanges[scenario.time.exchange];
  return {
    scenario,
    topology: kind.build(scenario.cluster),
    network,
    overlap: names.overlaps[scenario.time.overlap ?? 'none'],
    dispatch: createExchange(scenario, 'dispatch', choice, kind, network),
    combine: createExchange(scenario, 'combine', choice, kind, network),
    rankSpeed,
  };
}

/** Times the micro-batches of one layer, one plan each; as many as the model's overlap asks for. */
export function timeLayer(model: TimeModel, plans: readonly DispatchPlan[]): TimedLayer {
  const timed = plans.map((plan) => timeBatch(model, plan));
  const result = schedule(
    model.overlap.program,
    timed.map((t) => t.batch),
    model.topology.rankCount,
  );
  const stepNs = max(result.endNs);
  const linkBytes = new Float64Array(model.topology.links.length);
  for (const { dispatch, combine } of timed) {
    for (let i = 0; i < linkBytes.length; i++) linkBytes[i] += dispatch.linkBytes[i] + combine.linkBytes[i];
  }
  const names = Object.keys(timed[0].phases) as OpName[];
  return {
    stepNs,
    phases: Object.fromEntries(names.map((name) => [name, addEstimates(timed.map((t) => t.phases[name]))])),
    stragglerIdleFraction: stragglerIdle(result, stepNs),
    linkBytes,
    schedule: result,
    exchanges: timed.map(({ dispatch, combine }) => ({
      dispatch: dispatch.linkBytes,
      combine: combine.linkBytes,
    })),
  };
}

interface TimedBatch {
  readonly batch: MicroBatch;
  readonly dispatch: Transfer;
  readonly combine: Transfer;
  readonly phases: Readonly<Record<OpName, Estimate>>;
}

function timeBatch(model: TimeModel, plan: DispatchPlan): TimedBatch {
  const { rankCount } = plan;
  const { device } = model.scenario.cluster;
  const dispatch = model.dispatch.transfer(plan.dispatchBytes, plan);
  const combine = model.combine.transfer(transposed(plan.combineBytes, rankCount), plan);
  const pre: Estimate[] = [];
  const shared: Estimate[] = [];
  const experts: Estimate[] = [];
  const post: Estimate[] = [];
  const denseOf = new Map<number, ReturnType<typeof denseLayerParts>>();
  for (let rank = 0; rank < rankCount; rank++) {
    const tokens = plan.routing.tokenOffsets[rank + 1] - plan.routing.tokenOffsets[rank];
    const dense = denseOf.get(tokens) ?? denseLayerParts(model.scenario.model, device, tokens);
    denseOf.set(tokens, dense);
    const slots = plan.tokensPerSlot.subarray(
      plan.placement.slotOffsets[rank],
      plan.placement.slotOffsets[rank + 1],
    );
    const slow = (e: Estimate) => ({ ...e, ns: e.ns / model.rankSpeed[rank] });
    pre.push(slow(addEstimates([dense.router, dense.downProjection])));
    shared.push(slow(dense.sharedExperts));
    experts.push(slow(expertComputeTime(model.scenario.model, device, slots)));
    post.push(slow(addEstimates([dense.norms, dense.upProjection])));
  }
  const wire = ({ ns }: Transfer, { provenance, source, relErrorBar }: Exchange): Estimate => ({
    ns,
    provenance,
    source: `${model.scenario.time.network} network, ${source}`,
    relErrorBar,
  });
  const nanoseconds = (list: readonly Estimate[]) => Float64Array.from(list, (e) => e.ns);
  const sends = Uint8Array.from(plan.rowsPerPair, (rows) => (rows > 0 ? 1 : 0));
  return {
    dispatch,
    combine,
    batch: {
      pre: nanoseconds(pre),
      shared: nanoseconds(shared),
      experts: nanoseconds(experts),
      post: nanoseconds(post),
      dispatchSentNs: dispatch.sentNs,
      dispatchReceivedNs: dispatch.receivedNs,
      combineSentNs: combine.sentNs,
      combineReceivedNs: combine.receivedNs,
      sends,
    },
    phases: {
      pre: slowest(pre),
      dispatch: wire(dispatch, model.dispatch),
      shared: slowest(shared),
      experts: slowest(experts),
      combine: wire(combine, model.combine),
      post: slowest(post),
    },
  };
}

/** Mean over ranks of how long a rank's routed experts are done before the last rank's, over the layer's time. */
function stragglerIdle(result: Schedule, stepNs: number): number {
  let idle = 0;
  let count = 0;
  for (const span of result.spans) {
    if (span.name !== 'experts') continue;
    const last = max(span.endNs);
    for (const end of span.endNs) idle += last - end;
    count += span.endNs.length;
  }
  return stepNs === 0 ? 0 : idle / count / stepNs;
}

function slowest(list: readonly Estimate[]): Estimate {
  return list.reduce((a, b) => (b.ns > a.ns ? b : a));
}

function max(values: Float64Array): number {
  let best = 0;
  for (const v of values) if (v > best) best = v;
  return best;
}

function transposed(matrix: Float64Array, n: number): Float64Array {
  const out = new Float64Array(matrix.length);
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) out[j * n + i] = matrix[i * n + j];
  return out;
}
