export { type CarriedModel, carriedModel } from './carry/carried-model.js';
export { type CarriedExperts, type CarriedExpertsOptions, carriedExperts } from './carry/expert-layer.js';
export type { CarriedLayer, LayerWork, ShardFabric, ShardPart } from './carry/fabric.js';
export { localFabric } from './carry/local-fabric.js';
export type { RankPlan } from './carry/rank-plan.js';
export { createReference, type Reference } from './carry/reference.js';
export {
  RemoteLayer,
  RemoteShard,
  type ShardTask,
} from './carry/remote-shard.js';
export type { Leg, RowPort } from './carry/row-port.js';
export {
  type CarryOptions,
  type CarryResult,
  CarrySession,
  errorTolerance,
  rowsOf,
} from './carry/session.js';
export { createShardHandler } from './carry/shard-handler.js';
export { ROWS_PER_PASS, type ShardLayout, type ShardSpec, shardLayout } from './carry/shard-layout.js';
export { catalog, type EngineCatalog } from './catalog.js';
export { type Measured, type MeasureOptions, measure, readMeasured } from './measure.js';
export { chooseSlots, type ReplicaRule, type SlotsByExpert, slotsByExpert } from './plan/choose-slots.js';
export {
  choicesPerRank,
  type DispatchKind,
  type DispatchOptions,
  dedupRatio,
  planDispatch,
} from './plan/dispatch-plan.js';
export { expectedDistinctRanks } from './plan/distinct-ranks.js';
export { sliceRouting } from './plan/slice-routing.js';
export { carriedDispatch, dispatchOptions, Simulation, type SimulationOptions } from './simulate.js';
export { addEstimates } from './timed/estimates.js';
export {
  createExchange,
  type Exchange,
  type ExchangeChoice,
  exchanges,
  type KernelCosts,
  kernelCosts,
  ranksThatCross,
} from './timed/exchanges.js';
export { type Overlap, overlaps } from './timed/overlaps.js';
export { type MicroBatch, type Op, type OpSpan, type Schedule, schedule } from './timed/schedule.js';
export { createTimeModel, type TimedLayer, type TimeModel, timeLayer } from './timed/time-layer.js';
export { backgroundNs } from './timed/time-move.js';
export { timelineOf } from './timed/timeline.js';
