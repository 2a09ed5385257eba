/**
 * Every placement policy by its name in a scenario. Being listed is being tested: the conformance suite
 * takes its subjects from here.
 */
import { balanced } from './balanced.js';
import { contiguous } from './contiguous.js';
import { eplb } from './eplb.js';
import { eplbDistinct } from './eplb-distinct.js';
import { leastLoaded } from './least-loaded.js';
import { lp } from './lp.js';
import type { PlacementPolicy } from './policy.js';
import { random } from './random.js';
import { roundRobin } from './round-robin.js';
import { topologyAware } from './topology-aware.js';

export const placementPolicies = {
  contiguous,
  'round-robin': roundRobin,
  random,
  eplb,
  'eplb-distinct': eplbDistinct,
  lp,
  balanced,
  'least-loaded': leastLoaded,
  'topology-aware': topologyAware,
} as const satisfies Record<string, PlacementPolicy>;

export type PlacementPolicyName = keyof typeof placementPolicies;
