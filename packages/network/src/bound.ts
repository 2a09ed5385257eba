/**
 * The bound: no exchange ends before its busiest link has carried its bytes and the last of them has travelled.
 * One idea: look at links one by one, as if all others were free. Every finer model is at least this slow.
 * Does not know in which order flows share a link.
 */
import { z } from 'zod';
import { addLinkBytes, type Flows, issueNs, listFlows, rankClock, transferOf } from './flows.js';
import type { NetworkModel } from './transfer.js';

/**
 * `ns` is a true lower bound: max over links of bytes / rate plus the smallest (latency + message cost) of a flow
 * on the link, and max over flows of their own bytes / slowest link + latency + message cost.
 * The time of a rank is an estimate: it waits until the busiest link of its flows is empty, because a flow
 * that shares a link fairly ends near the end of that link.
 */
export const bound: NetworkModel = {
  summary: 'busiest link plus latency: a lower bound',
  options: z.strictObject({}),
  transfer: (topology, bytesPerPair, costs) =>
    bound.transferFlows(topology, listFlows(topology, bytesPerPair), costs),
  transferFlows(topology, flows, costs) {
    const linkBytes = addLinkBytes(flows, new Float64Array(topology.links.length));
    const issue = issueNs(topology, flows, costs);
    const clock = rankClock(topology, flows, costs);
    const rates = Float64Array.from(topology.links, (link) => link.bytesPerSec);
    const { sentNs, arrivedNs } = drainTimes(rates, flows, linkBytes, issue);
    for (let flow = 0; flow < flows.count; flow++) {
      let slowest = Number.POSITIVE_INFINITY;
      let sent = 0;
      let arrived = 0;
      for (let hop = flows.pathOffsets[flow]; hop < flows.pathOffsets[flow + 1]; hop++) {
        const link = flows.pathLinks[hop];
        if (rates[link] < slowest) slowest = rates[link];
        if (sentNs[link] > sent) sent = sentNs[link];
        if (arrivedNs[link] > arrived) arrived = arrivedNs[link];
      }
      const alone = (flows.bytes[flow] / slowest) * 1e9 + issue[flows.from[flow]];
      clock.end(flow, Math.max(sent, alone), Math.max(arrived, alone + flows.latencyNs[flow]));
    }
    return transferOf(topology, clock, linkBytes, 0);
  },
};

/** Earliest moments at which everything has been sent over a link of `rates` and has arrived, [links] each. */
function drainTimes(rates: Float64Array, flows: Flows, linkBytes: Float64Array, issue: Float64Array) {
  const linkCount = rates.length;
  const sentNs = new Float64Array(linkCount).fill(Number.POSITIVE_INFINITY);
  const arrivedNs = new Float64Array(linkCount).fill(Number.POSITIVE_INFINITY);
  for (let flow = 0; flow < flows.count; flow++) {
    const before = issue[flows.from[flow]];
    const around = before + flows.latencyNs[flow];
    for (let hop = flows.pathOffsets[flow]; hop < flows.pathOffsets[flow + 1]; hop++) {
      const link = flows.pathLinks[hop];
      if (before < sentNs[link]) sentNs[link] = before;
      if (around < arrivedNs[link]) arrivedNs[link] = around;
    }
  }
  for (let link = 0; link < linkCount; link++) {
    if (linkBytes[link] === 0) continue;
    const drain = (linkBytes[link] / rates[link]) * 1e9;
    sentNs[link] += drain;
    arrivedNs[link] += drain;
  }
  return { sentNs, arrivedNs };
}
