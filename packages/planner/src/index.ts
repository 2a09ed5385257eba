export * from './layout.js';
export * from './memory.js';
export { sliceOf } from './slice.js';
export { type StageSum, stageSums } from './stage-tensors.js';
