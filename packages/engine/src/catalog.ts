/** Everything that a scenario may name, gathered from the registries for the reader of scenarios. */
import { type NetworkModel, networkModels, type TopologyKind, topologyKinds } from '@epsim/network';
import { type PlacementPolicy, placementPolicies } from '@epsim/placement';
import { type RoutingPolicy, routingPolicies } from '@epsim/routing';
import { type WorkloadKind, workloadKinds } from '@epsim/workload';
import { type ExchangeChoice, exchanges } from './timed/exchanges.js';
import { type Overlap, overlaps } from './timed/overlaps.js';

export interface EngineCatalog {
  readonly routing: Readonly<Record<string, RoutingPolicy>>;
  readonly placement: Readonly<Record<string, PlacementPolicy>>;
  readonly topology: Readonly<Record<string, TopologyKind>>;
  readonly workload: Readonly<Record<string, WorkloadKind>>;
  readonly networkModels: Readonly<Record<string, NetworkModel>>;
  readonly overlaps: Readonly<Record<string, Overlap>>;
  readonly exchanges: Readonly<Record<string, ExchangeChoice>>;
}

export const catalog: EngineCatalog = {
  routing: routingPolicies,
  placement: placementPolicies,
  topology: topologyKinds,
  workload: workloadKinds,
  networkModels,
  overlaps,
  exchanges,
};
