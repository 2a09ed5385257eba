export { attentionTensors } from './attention-parameters.js';
export { type BlockShard, shardByBlocks } from './block-shard.js';
export { expertBiasElements, expertElements } from './feed-forward-parameters.js';
export { parameterList } from './parameter-list.js';
export {
  activeParamCount,
  checkpointBytes,
  type ParameterTotals,
  paramCount,
  parameterTotals,
} from './parameter-totals.js';
export {
  cacheElementsPerToken,
  fixedStateElements,
  type StateBytes,
  type StateFormat,
  type StateOptions,
  stateBytes,
  stateShareOfRank,
} from './state.js';
export { type ParameterTensor, storedBytes, type TensorClass, type TensorSplit } from './tensor-entry.js';
