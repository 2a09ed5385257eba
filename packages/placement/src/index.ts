export { balancedness, choicesPerExpert, rankLoads, replicaCounts, slotLoads } from './loads.js';
export type { PlacedReplicas, PlacementInput, PlacementPolicy, SplitInput } from './policy.js';
export { type PlacementPolicyName, placementPolicies } from './registry.js';
export {
  checkSlotCount,
  dividingRankCounts,
  evenSlots,
  leastRedundantExperts,
  leastSlotsPerRank,
  rankOfSlots,
} from './slots.js';
export { duplicatesOnRank, validatePlacement, validateQuota } from './validate.js';
