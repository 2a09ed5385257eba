/**
 * Every placement policy by its name in a scenario. Being listed is being tested: the conformance suite
 * takes its subjects from here.
 */
import { contiguous } from './contiguous.js';
import { eplb } from './eplb.js';
import type { PlacementPolicy } from './policy.js';
import { random } from './random.js';
import { roundRobin } from './round-robin.js';

export const placementPolicies = {
  contiguous,
  'round-robin': roundRobin,
  random,
  eplb,
} as const satisfies Record<string, PlacementPolicy>;

export type PlacementPolicyName = keyof typeof placementPolicies;
