export { type CoordinatorOptions, coordinate, shardsFor } from './coordinator.js';
export { PointWorker } from './point-worker.js';
export { openPoints, type PointRunner } from './points.js';
export type { FabricFigures, RedisFabric } from './redis-fabric.js';
export { type ShardJobData, shardJobSchema } from './shard-job.js';
export { ShardLayer } from './shard-layer.js';
export { decodeTask, encodeTask } from './shard-task.js';
export { ShardWorker } from './shard-worker.js';
export { type ClusterWorker, joinCluster, type WorkerOptions } from './worker.js';
