export { type Address, addressOf, bounded, clearTextWarning, openRedis } from './connection.js';
export {
  type Block,
  decodeFrame,
  encodeFrames,
  type Frame,
  MAX_FRAME_BYTES,
  type Piece,
  type Refusal,
} from './frame.js';
export { JOB_PREFIX, LANES, laneQueue, POINTS } from './keys.js';
export { lanesOf, showCard, versionConflict, type WorkerCard, workersPresent } from './presence.js';
export { type PhaseJob, PhaseLost, RedisRun, type RunOptions } from './run.js';
export { type ServeOptions, type Serving, serve } from './serve.js';
export { type ClusterStatus, clusterStatus, type QueueDepth } from './status.js';
export {
  type Channel,
  FrameStore,
  FramesLost,
  noRefusals,
  type RefusalCounts,
  RunMovedOn,
} from './store.js';
export { sweepUp, sweepUpSilentRuns } from './sweep-up.js';
