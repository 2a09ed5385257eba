export { enumerateLayouts } from './candidates.js';
export { economicsOf } from './economics.js';
export { KERNEL_SHARE } from './engine-share.js';
export { coveringQuantile, endToEndError, wideningOf } from './errors/error-bar.js';
export { scoredRows } from './errors/scored-rows.js';
export { exchangeLine, exchangeNs, groupBytes, stageCluster } from './exchanges.js';
export { type LauncherName, launchers, launchText } from './launch/index.js';
export type { LaunchPool } from './launch/launcher.js';
export { layerKinds } from './layer-kinds.js';
export { layersInARow, type OverlapName } from './layer-schedule.js';
export {
  type Layout,
  layoutFaults,
  layoutName,
  layoutNotes,
  layoutRanks,
  slotsOfLayout,
  stageRanks,
} from './layout.js';
export { type LoadSample, sampleLoads, shrunkPopularity } from './load-sample.js';
export { cacheTokens, copiesOf, createMemoryModel, leastRanksByWeights, type MemoryTerms } from './memory.js';
export { placeExperts } from './placed-experts.js';
export { type PlanOptions, planCapacity } from './plan.js';
export { type CapacityPlan, planSchema } from './plan-schema.js';
export { searchOf } from './plan-search.js';
export { planText } from './plan-text.js';
export { type QueueFleet, quantileOf, simulateQueue } from './serving/queue.js';
export { requestStream } from './serving/requests.js';
export { type ServiceTimes, serviceTimes, tableOf } from './serving/service-times.js';
export { stageSums } from './stage-tensors.js';
export { createStepModel } from './step-time.js';
export { headMuonFlops, iterationFlops, muonFlops } from './training/muon.js';
export { backwardRatio, planTraining } from './training/plan-training.js';
export { elementsOnRank } from './training/training-memory.js';
export { trainingText } from './training/training-text.js';
export { validateEndToEnd } from './validation/end-to-end.js';
export { endToEndText } from './validation/end-to-end-text.js';
export { servingRows } from './validation/serving-rows.js';
