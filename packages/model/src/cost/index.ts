export { attentionParts } from './attention-time.js';
export {
  type AttentionBatch,
  attentionWork,
  coreWork,
  projectionWork,
  visibleBlocks,
  visiblePairs,
} from './attention-work.js';
export {
  type BlockCost,
  blockCosts,
  type ContextCost,
  contextCosts,
  withSoftmaxEverywhere,
} from './block-costs.js';
export { type DensePart, denseLayerParts, denseLayerWork, elementWork, matrixWork } from './dense-parts.js';
export { deviceGeneration, deviceWords } from './device-name.js';
export type {
  ComputeFormat,
  DenseKernel,
  DeviceProfile,
  ExpertKernel,
  ProfileRange,
} from './device-profile.js';
export {
  type ExpertLoad,
  type ExpertSizes,
  type ExpertTimer,
  expertComputeTime,
  expertErrorBar,
  expertNs,
  expertSizes,
  expertTimer,
  tileFor,
} from './expert-time.js';
export { expertProfileOf } from './fitted-profile.js';
export {
  type FittedNumber,
  type KernelName,
  type KernelTemplate,
  kernelTemplates,
} from './kernel-templates.js';
export { deviceProfiles } from './profile-data.js';
export { profileFor } from './profiles.js';
export {
  addWork,
  combine,
  errorBar,
  NO_WORK,
  ROOFLINE_ERROR,
  rooflineNs,
  type Work,
} from './roofline.js';
