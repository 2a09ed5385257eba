/**
 * What a network model answers: when the bytes of one exchange between all ranks have arrived, and over what.
 * All ranks start at time 0 and each pair's bytes are one flow.
 */
import type { z } from 'zod';
import type { Flows } from './flows.js';
import type { Topology } from './topology.js';

export interface Transfer {
  /** Time until every byte has arrived: the latest of `receivedNs`. */
  readonly ns: number;
  /** When each rank has sent its last byte, [rankCount]; startNs for a rank that sends nothing. */
  readonly sentNs: Float64Array;
  /** When each rank has received and noticed its last byte, [rankCount]. */
  readonly receivedNs: Float64Array;
  /** Bytes over each link, [links]. */
  readonly linkBytes: Float64Array;
  /** The link that needs the longest for its bytes, an index into the topology's links; -1 when nothing moves. */
  readonly busiestLink: number;
  /**
   * Relative error of `ns` that the method allows itself against its own definition; 0 = none, for all times.
   * Above 0 the times of single ranks may be off by a few percent of `ns`.
   */
  readonly relTolerance: number;
}

/** What small messages pay beside their bytes. All default to 0 when no costs are given. */
export interface MessageCosts {
  /** Before the first byte, once. */
  readonly startNs: number;
  /** A sender pays it for each of its messages before its bytes flow. */
  readonly perMessageNs: number;
  /** From the last byte to the moment that the receiver knows. */
  readonly notifyNs: number;
  /** Messages from s to d, [rankCount x rankCount]; absent means one for each pair that has bytes. */
  readonly messagesPerPair?: Int32Array;
}

export interface NetworkModel {
  readonly summary: string;
  readonly options: z.ZodType;
  /**
   * Times one exchange of `bytesPerPair`, row-major [rankCount x rankCount], the diagonal ignored.
   * Throws RangeError when a shape does not fit the topology or a count is negative.
   */
  transfer(topology: Topology, bytesPerPair: Float64Array, costs?: MessageCosts): Transfer;
  /** The same of flows that are listed already, for exchanges that differ in nothing but bytes. */
  transferFlows(topology: Topology, flows: Flows, costs?: MessageCosts): Transfer;
}
