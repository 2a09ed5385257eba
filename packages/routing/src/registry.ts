/**
 * All routing policies by the name that scenarios use. A new one is one file and one line here;
 * being listed is being tested by the conformance suite.
 */

import { quantile } from './policies/quantile.js';
import { topK } from './policies/top-k.js';
import type { RoutingPolicy } from './policy.js';

export const routingPolicies = {
  'top-k': topK,
  quantile,
} as const satisfies Record<string, RoutingPolicy>;

export type RoutingPolicyName = keyof typeof routingPolicies;
