export { type Coordinator, type CoordinatorOptions, coordinate, shardsFor } from './coordinator.js';
export { type PhaseAnswer, type PhaseJobData, phaseJobSchema } from './phase-job.js';
export { PhaseWorker } from './phase-worker.js';
export { PointWorker } from './point-worker.js';
export { openPoints, type PointRunner } from './points.js';
export type { FabricFigures, RedisFabric } from './redis-fabric.js';
export { decodeTask, encodeTask } from './shard-task.js';
export { type ClusterWorker, joinCluster, type WorkerOptions } from './worker.js';
