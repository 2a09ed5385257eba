/**
 * All routing policies by the name that scenarios use. A new one is one file and one line here;
 * being listed is being tested by the conformance suite.
 */

import { capacity } from './policies/capacity.js';
import { expertChoice } from './policies/expert-choice.js';
import { groupLimited } from './policies/group-limited.js';
import { hash } from './policies/hash.js';
import { lpAssignment } from './policies/lp-assignment.js';
import { quantile } from './policies/quantile.js';
import { randomUniform } from './policies/random-uniform.js';
import { recorded } from './policies/recorded.js';
import { signBias } from './policies/sign-bias.js';
import { sinkhorn } from './policies/sinkhorn.js';
import { topK } from './policies/top-k.js';
import type { RoutingPolicy } from './policy.js';

export const routingPolicies = {
  'top-k': topK,
  'sign-bias': signBias,
  quantile,
  'group-limited': groupLimited,
  'expert-choice': expertChoice,
  capacity,
  hash,
  'random-uniform': randomUniform,
  sinkhorn,
  'lp-assignment': lpAssignment,
  recorded,
} as const satisfies Record<string, RoutingPolicy>;

export type RoutingPolicyName = keyof typeof routingPolicies;
