export { type BlockShard, shardByBlocks } from './block-shard.js';
export { expertElements } from './feed-forward-parameters.js';
export { parameterList } from './parameter-list.js';
export {
  activeParamCount,
  checkpointBytes,
  countedParameters,
  type ParameterTotals,
  paramCount,
  parameterTotals,
} from './parameter-totals.js';
export {
  cacheElementsPerToken,
  type StateBytes,
  type StateFormat,
  type StateOptions,
  stateBytes,
  stateShareOfRank,
} from './state.js';
export { type ParameterTensor, storedBytes, type TensorClass, type TensorSplit } from './tensor-entry.js';
