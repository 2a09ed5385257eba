/** Topology graph; bytes between ranks to nanoseconds, per link. Knows nothing about experts. */
export { EXACT_FLOWS, type FlowEnds, flowEnds, WINDOW_TOLERANCE } from './fair-share.js';
export { flowEndsNaive, maxMinRates } from './fair-share-naive.js';
export { type Flows, listFlows } from './flows.js';
export * from './forward.js';
export * from './kinds.js';
export * from './link-use.js';
export * from './models.js';
export { unevenExchange } from './sample-exchange.js';
export type { Link, Tier, Topology, TopologyKind } from './topology.js';
export type { MessageCosts, NetworkModel, Transfer } from './transfer.js';
