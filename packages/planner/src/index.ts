export * from './candidates.js';
export * from './chains.js';
export * from './comparison.js';
export * from './economics.js';
export { PREFILL_KERNEL_SHARE } from './engine-share.js';
export {
  coveringQuantile,
  type ErrorBar,
  endToEndError,
  type ScoredFigure,
  wideningOf,
} from './errors/error-bar.js';
export { scoredRows } from './errors/scored-rows.js';
export * from './exchanges.js';
export { type LauncherName, launchAll, launchers, launchPools, launchText } from './launch/index.js';
export type { Launch, Launcher, LaunchPool } from './launch/launcher.js';
export * from './layer-kinds.js';
export * from './layer-schedule.js';
export * from './layout.js';
export * from './load-sample.js';
export * from './memory.js';
export * from './objectives.js';
export * from './placed-experts.js';
export * from './plan.js';
export * from './plan-nouns.js';
export { searchOf } from './plan-search.js';
export { planText } from './plan-text.js';
export * from './pools.js';
export * from './search.js';
export { type Sensitivity, sensitivityOf } from './sensitivity.js';
export { type QueueFleet, type QueueResult, quantileOf, simulateQueue } from './serving/queue.js';
export { type RequestStream, requestStream, type StreamOptions } from './serving/requests.js';
export { type ServiceTimes, serviceTimes, tableOf } from './serving/service-times.js';
export { type Quantiles, type UnderLoad, underLoad } from './serving/under-load.js';
export { sliceOf } from './slice.js';
export { type StageSum, stageSums } from './stage-tensors.js';
export * from './step-parts.js';
export * from './step-time.js';
export { headMuonFlops, iterationFlops, type MatrixBlocks, muonFlops } from './training/muon.js';
export {
  backwardRatio,
  planTraining,
  type TrainingLayout,
  type TrainingPhases,
  type TrainingPlan,
} from './training/plan-training.js';
export { elementsOnRank, type TrainingMemory, trainingMemory } from './training/training-memory.js';
export { trainingText } from './training/training-text.js';
export { type EndToEnd, type ValidatedRow, validateEndToEnd } from './validation/end-to-end.js';
export { endToEndText } from './validation/end-to-end-text.js';
export { type ServingRow, servingRows } from './validation/serving-rows.js';
