export { createRoutingArena, type RoutingArena } from './arena.js';
export { assignBalanced, type BalancedAssignment } from './balanced-assignment.js';
export { createExactGaps, quantileNaive } from './gap-exact.js';
export { createGapHistogram, type GapHistogram } from './gap-histogram.js';
export { maxVioFloor, maxVioOf } from './measures.js';
export type { RouteResult, Router, RouterContext, RoutingPolicy } from './policy.js';
export { definePolicy } from './policy.js';
export type { QuantileEstimator } from './quantile-estimator.js';
export { type RoutingPolicyName, routingPolicies } from './registry.js';
export { countLoads } from './route-rows.js';
export { type Scoring, scoreRowNaive, scoreRows } from './scoring.js';
export { createSelector, type Selector, selectNaive } from './select.js';
export { createAdam } from './study/adam.js';
export { auxLossOf } from './study/aux-loss.js';
export {
  lossOf,
  routerLogits,
  type SmallMoe,
  type SmallMoeShape,
  startingMoe,
  zeroMoe,
} from './study/small-moe.js';
export { createTeacher, type StudyBatch, type Teacher, type TeacherShape } from './study/teacher.js';
export {
  type StudyCurve,
  type StudyMethod,
  type StudyOptions,
  studyMethods,
  studyOptions,
  trainUnder,
} from './study/training-study.js';
