export { type Balancer, type BalancerOptions, createBalancer } from './balancer.js';
export {
  type PlacementFormat,
  placementFormats,
  readPlacement,
  writePlacement,
} from './formats.js';
export { balancedness, choicesPerExpert, rankLoads, slotLoads } from './loads.js';
export { leastBusiestRank } from './lp-share.js';
export { type Moves, moves } from './moves.js';
export { type NetBenefit, netBenefit } from './net-benefit.js';
export {
  type PlacementTable,
  type PlaceTableOptions,
  placementTableSchema,
  placeTable,
} from './place-table.js';
export type { PlacedReplicas, PlacementInput, PlacementPolicy, SplitInput } from './policy.js';
export { type BufferSize, bufferSizes, receivedRows } from './receive-buffers.js';
export { type PlacementPolicyName, placementPolicies } from './registry.js';
export { assignMost, settleRanks } from './settle-ranks.js';
export {
  checkSlotCount,
  dividingRankCounts,
  evenSlots,
  leastRedundantExperts,
  leastSlotsPerRank,
} from './slots.js';
export { loadSolver } from './solver.js';
export { type CostWeights, placementCost } from './topology-cost.js';
export { duplicatesOnRank, validatePlacement, validateQuota } from './validate.js';
