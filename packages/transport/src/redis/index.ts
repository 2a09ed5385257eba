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
export { inboxesOf, inboxKey, JOB_PREFIX, LANES, laneQueue, type Owner, ordersKey, POINTS } from './keys.js';
export {
  Arrivals,
  type Entry,
  type Letter,
  Mail,
  type MailOptions,
  MailReader,
  taskChannel,
} from './mail.js';
export { lanesOf, seatsOf, showCard, versionConflict, type WorkerCard, workersPresent } from './presence.js';
export { JobsLost, LOOK_MS, RedisRun, type RunJob, type RunOptions } from './run.js';
export { GIVEN_BACK, type Hold, type ServeOptions, type Serving, serve } from './serve.js';
export { type ClusterStatus, clusterStatus, type QueueDepth } from './status.js';
export {
  type Channel,
  FrameStore,
  FramesLost,
  fullRedis,
  noRefusals,
  RedisFull,
  type RefusalCounts,
  RunMovedOn,
} from './store.js';
export { sweepUp, sweepUpSilentRuns } from './sweep-up.js';
export { UncopiedCommand } from './uncopied.js';
