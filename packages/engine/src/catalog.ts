/** Everything that a scenario may name, gathered from the registries for the reader of scenarios. */
import { networkModels, topologyKinds } from '@epsim/network';
import { placementPolicies } from '@epsim/placement';
import { routingPolicies } from '@epsim/routing';
import { workloadKinds } from '@epsim/workload';
import { overlaps } from './timed/overlaps.js';

export const catalog = {
  routing: routingPolicies,
  placement: placementPolicies,
  topology: topologyKinds,
  workload: workloadKinds,
  networkModels,
  overlaps,
};
