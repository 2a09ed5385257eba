/**
 * Max-min fair sharing, event by event: what many flows get from a network that treats them alike.
 * One idea: rates change only when a flow ends, so time advances from end to end. Where very many flows end one
 * by one, whole stretches of time are shared at once instead (see share-window), and the answer says so.
 * Does not know about queues, packets or congestion: it is what they aim at.
 */
import { z } from 'zod';
import { type ActiveFlows, activate, dropEnded } from './active-flows.js';
import { addLinkBytes, type Flows, issueNs, listFlows, rankClock, transferOf } from './flows.js';
import { runToNextEnd, type ShareScratch, shareScratch } from './share-event.js';
import { runWindow, type WindowScratch, windowLength, windowScratch } from './share-window.js';
import type { NetworkModel } from './transfer.js';

/** Up to this many flows every end is an event; more only while each event ends a good part of them. */
export const EXACT_FLOWS = 1024;
/** A single event is worth its cost on a large exchange when it ends this share of the flows or idles it of the links. */
const WORTH_ENDED = 1 / 32;
/** What stretches may cost `ns` against single events; compared with the naive form by the tests. */
export const WINDOW_TOLERANCE = 2e-3;

export interface FlowEnds {
  /** Nanoseconds at which each flow has sent its last byte, [count]. */
  readonly endNs: Float64Array;
  /** 0 when every end was an event of its own. */
  readonly relTolerance: number;
}

/** Ends of all flows under max-min fair sharing; `capacity` in bytes per ns, [links]. */
export function flowEnds(flows: Flows, capacity: Float64Array, exactFlows = EXACT_FLOWS): FlowEnds {
  const endNs = new Float64Array(flows.count);
  const active = activate(flows, capacity.length);
  const scratch = shareScratch(flows.count, capacity.length);
  let windows: WindowScratch | null = null;
  let now = 0;
  let worth = fewSizes(flows);
  while (active.count > 0) {
    const flowsBefore = active.count;
    const linksBefore = active.linkCount;
    if (worth || flowsBefore <= exactFlows) {
      now += runToNextEnd(active, capacity, flows.bytes, scratch);
      for (let f = 0; f < flowsBefore; f++) if (active.left[f] === 0) endNs[active.flow[f]] = now;
    } else {
      windows ??= windowScratch(active);
      now += stretch(active, capacity, windows, scratch, now, endNs);
    }
    dropEnded(active);
    const ended = Math.max(
      (flowsBefore - active.count) / flowsBefore,
      (linksBefore - active.linkCount) / linksBefore,
    );
    worth &&= windows === null && ended >= WORTH_ENDED;
  }
  return { endNs, relTolerance: windows === null ? 0 : WINDOW_TOLERANCE };
}

/** Whether a look at a few hundred flows finds so few sizes that many of them may end together. */
function fewSizes(flows: Flows): boolean {
  const sizes = new Set<number>();
  const stride = Math.max(1, Math.floor(flows.count / 499));
  for (let flow = 0; flow < flows.count; flow += stride) sizes.add(flows.bytes[flow]);
  return sizes.size <= 16;
}

function stretch(
  active: ActiveFlows,
  capacity: Float64Array,
  windows: WindowScratch,
  scratch: ShareScratch,
  now: number,
  endNs: Float64Array,
): number {
  const ns = windowLength(active, capacity, windows);
  const ends = scratch.rates;
  const length = runWindow(active, capacity, ns, windows, ends);
  for (let f = 0; f < active.count; f++) {
    if (active.left[f] === 0) endNs[active.flow[f]] = now + ends[f] * (length / ns);
  }
  return length;
}

export const fairShare: NetworkModel = {
  summary: 'max-min fair flows, event by event',
  options: z.strictObject({}),
  transfer(topology, bytesPerPair, costs) {
    const flows = listFlows(topology, bytesPerPair);
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
