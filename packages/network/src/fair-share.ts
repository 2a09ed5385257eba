/**
 * Max-min fair sharing, event by event: what many flows get from a network that treats them alike.
 * One idea: rates change only when a flow ends, so time advances from end to end. Where very many flows end one
 * by one, whole stretches of time are shared at once instead (see share-window), and the answer says so.
 * Does not know about queues, packets or congestion: it is what they aim at.
 */
import { z } from 'zod';
import { activate, listUsedLinks, squeeze } from './active-flows.js';
import { flowsLeft, isSparse, layOutGrid } from './flow-grid.js';
import { addLinkBytes, type Flows, issueNs, listFlows, rankClock, transferOf } from './flows.js';
import type { FlowsLeft } from './segments.js';
import { runToNextEnd, shareScratch } from './share-event.js';
import { runWindow, windowScratch } from './share-window.js';
import type { NetworkModel } from './transfer.js';

/** Up to this many flows every end is an event; more only while each event ends a good part of them. */
export const EXACT_FLOWS = 1024;
/** Of a larger exchange the last few flows end in events too. */
const LAST_FLOWS = 256;
/** A single event is worth its cost on a large exchange when it ends this share of the flows or idles it of the links. */
const WORTH_ENDED = 1 / 32;
/** Flows that have ended are squeezed out of the list when they are this share of it. */
const WORTH_SQUEEZING = 1 / 4;
/** What stretches may cost `ns` against single events; compared with the naive form by the tests. */
export const WINDOW_TOLERANCE = 2e-3;

export interface FlowEnds {
  /** Nanoseconds at which each flow has sent its last byte, [count]. */
  readonly endNs: Float64Array;
  /** 0 when every end was an event of its own. */
  readonly relTolerance: number;
}

interface Sharing {
  readonly flows: Flows;
  readonly capacity: Float64Array;
  readonly endNs: Float64Array;
  now: number;
}

/** Ends of all flows under max-min fair sharing; `capacity` in bytes per ns, [links]. */
export function flowEnds(flows: Flows, capacity: Float64Array, exactFlows = EXACT_FLOWS): FlowEnds {
  const sharing: Sharing = { flows, capacity, endNs: new Float64Array(flows.count), now: 0 };
  let at: FlowsLeft = { count: flows.count, flow: null, left: flows.bytes };
  if (at.count <= exactFlows || fewSizes(flows)) at = runEvents(sharing, at, exactFlows);
  if (at.count === 0) return { endNs: sharing.endNs, relTolerance: 0 };
  const lastFlows = Math.min(exactFlows, LAST_FLOWS);
  runEvents(sharing, runWindows(sharing, at, lastFlows), lastFlows);
  return { endNs: sharing.endNs, relTolerance: WINDOW_TOLERANCE };
}

/** Goes from end to end; stops where more than `exactFlows` are left of which each end is only a few. */
function runEvents(sharing: Sharing, at: FlowsLeft, exactFlows: number): FlowsLeft {
  const { flows, capacity, endNs } = sharing;
  const active = activate(flows, at, capacity.length);
  const scratch = shareScratch(at.count, capacity.length);
  let worth = true;
  let count = active.count;
  while (count > 0 && (worth || count <= exactFlows)) {
    const { linkCount, endedCount } = active;
    sharing.now += runToNextEnd(active, capacity, flows.bytes, scratch);
    for (let k = endedCount; k < active.endedCount; k++) endNs[active.flow[active.ended[k]]] = sharing.now;
    listUsedLinks(active);
    const left = active.count - active.endedCount;
    const ended = Math.max(1 - left / count, 1 - active.linkCount / linkCount);
    worth &&= ended >= WORTH_ENDED;
    count = left;
    if (active.endedCount > WORTH_SQUEEZING * active.count) squeeze(active);
  }
  squeeze(active);
  return active;
}

/** Goes from stretch to stretch until no more than `exactFlows` are left. */
function runWindows(sharing: Sharing, at: FlowsLeft, exactFlows: number): FlowsLeft {
  const { flows, capacity, endNs } = sharing;
  const scratch = windowScratch(capacity.length);
  let grid = layOutGrid(flows, at, capacity.length);
  while (grid.count > exactFlows) {
    sharing.now += runWindow(grid, capacity, sharing.now, scratch, endNs);
    if (isSparse(grid)) grid = layOutGrid(flows, flowsLeft(grid), capacity.length);
  }
  return flowsLeft(grid);
}

/** Whether a look at a few hundred flows finds so few sizes that many of them may end together. */
function fewSizes(flows: Flows): boolean {
  const sizes = new Set<number>();
  const stride = Math.max(1, Math.floor(flows.count / 499));
  for (let flow = 0; flow < flows.count; flow += stride) sizes.add(flows.bytes[flow]);
  return sizes.size <= 16;
}

export const fairShare: NetworkModel = {
  summary: 'max-min fair flows, event by event',
  options: z.strictObject({}),
  transfer: (topology, bytesPerPair, costs) =>
    fairShare.transferFlows(topology, listFlows(topology, bytesPerPair), costs),
  transferFlows(topology, flows, costs) {
    const linkBytes = addLinkBytes(flows, new Float64Array(topology.links.length));
    const capacity = Float64Array.from(topology.links, (link) => link.bytesPerSec / 1e9);
    const { endNs, relTolerance } = flowEnds(flows, capacity);
    const issue = issueNs(topology, flows, costs);
    const clock = rankClock(topology, flows, costs);
    for (let flow = 0; flow < flows.count; flow++) {
      const sent = endNs[flow] + issue[flows.from[flow]];
      clock.end(flow, sent, sent + flows.latencyNs[flow]);
    }
    return transferOf(topology, clock, linkBytes, relTolerance);
  },
};
