export { ClusterFailure } from './failure.js';
export { inlineShards } from './inline.js';
export { reasonOf, type ShardCall, type ShardHandler, type ShardPool, TransportError } from './shards.js';
export { type TaskThreads, type ThreadOptions, taskThreads, threadShards } from './thread.js';
