/** Topology graph; bytes between ranks to nanoseconds, per link. Knows nothing about experts. */
export * from './kinds.js';
export * from './models.js';
export type { Link, Tier, Topology, TopologyKind } from './topology.js';
export type { MessageCosts, NetworkModel, Transfer } from './transfer.js';
