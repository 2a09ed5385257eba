/**
 * The flows that still have bytes to send, packed, with their links and the flows of each link.
 * One idea: what has ended is squeezed out now and then, so that late steps cost what is left and not what there was.
 */
import type { Flows } from './flows.js';
import type { FlowsLeft } from './segments.js';

export interface ActiveFlows {
  /** Entries, those that have ended since the last squeeze among them: ended[0 .. endedCount - 1], with nothing left. */
  count: number;
  endedCount: number;
  readonly ended: Int32Array;
  /** Index in the full list of flows. */
  readonly flow: Int32Array;
  /** Bytes not yet sent. */
  readonly left: Float64Array;
  readonly pathOffsets: Int32Array;
  readonly pathLinks: Int32Array;
  /** Links that any active flow uses, linksUsed[0 .. linkCount - 1]. */
  linkCount: number;
  readonly linksUsed: Int32Array;
  /** Active flows that use each link, [links]. */
  readonly linkFlowCount: Int32Array;
  /** Entries of link l: linkFlows[linkOffsets[l]] .. linkFlows[linkOffsets[l + 1] - 1]. */
  readonly linkOffsets: Int32Array;
  linkFlows: Int32Array;
}

/** Packs the flows at hand; their bytes left are copied. */
export function activate(flows: Flows, at: FlowsLeft, linkCount: number): ActiveFlows {
  const flow = new Int32Array(at.count);
  const pathOffsets = new Int32Array(at.count + 1);
  for (let f = 0; f < at.count; f++) {
    flow[f] = at.flow === null ? f : at.flow[f];
    pathOffsets[f + 1] = pathOffsets[f] + flows.pathOffsets[flow[f] + 1] - flows.pathOffsets[flow[f]];
  }
  const pathLinks = new Int32Array(pathOffsets[at.count]);
  for (let f = 0; f < at.count; f++) {
    const shift = flows.pathOffsets[flow[f]] - pathOffsets[f];
    for (let hop = pathOffsets[f]; hop < pathOffsets[f + 1]; hop++)
      pathLinks[hop] = flows.pathLinks[hop + shift];
  }
  const active: ActiveFlows = {
    count: at.count,
    endedCount: 0,
    ended: new Int32Array(at.count),
    flow,
    left: at.left.slice(0, at.count),
    pathOffsets,
    pathLinks,
    linkCount: 0,
    linksUsed: new Int32Array(linkCount),
    linkOffsets: new Int32Array(linkCount + 1),
    linkFlowCount: new Int32Array(linkCount),
    linkFlows: new Int32Array(0),
  };
  countByLink(active);
  return active;
}

/** Takes the flow of an entry off its links; the entry stays until the next squeeze. */
export function endEntry(active: ActiveFlows, f: number): void {
  const { left, pathOffsets, pathLinks, linkFlowCount } = active;
  left[f] = 0;
  for (let hop = pathOffsets[f]; hop < pathOffsets[f + 1]; hop++) linkFlowCount[pathLinks[hop]] -= 1;
  active.ended[active.endedCount++] = f;
}

/** Squeezes out the entries whose flows have ended. */
export function squeeze(active: ActiveFlows): void {
  const { flow, left, pathOffsets, pathLinks } = active;
  let kept = 0;
  let used = 0;
  for (let f = 0; f < active.count; f++) {
    if (left[f] === 0) continue;
    const begin = pathOffsets[f];
    const end = pathOffsets[f + 1];
    flow[kept] = flow[f];
    left[kept] = left[f];
    for (let hop = begin; hop < end; hop++) pathLinks[used++] = pathLinks[hop];
    kept += 1;
    pathOffsets[kept] = used; // kept <= f + 1, so no offset that is still to be read changes
  }
  active.count = kept;
  active.endedCount = 0;
  indexByLink(active);
}

function countByLink(active: ActiveFlows): void {
  const { pathLinks, linkFlowCount } = active;
  const total = active.pathOffsets[active.count];
  for (let hop = 0; hop < total; hop++) linkFlowCount[pathLinks[hop]] += 1;
  listUsedLinks(active);
  indexByLink(active);
}

/** Lists the links that any active flow uses, ascending. */
export function listUsedLinks(active: ActiveFlows): void {
  active.linkCount = 0;
  for (let link = 0; link < active.linkFlowCount.length; link++) {
    if (active.linkFlowCount[link] > 0) active.linksUsed[active.linkCount++] = link;
  }
}

/** Sets `linkOffsets` to the end of each link's entries; filling them backwards leaves each at its start. */
function linkEnds(active: ActiveFlows): void {
  const { linkFlowCount, linkOffsets } = active;
  let sum = 0;
  for (let link = 0; link < linkFlowCount.length; link++) {
    sum += linkFlowCount[link];
    linkOffsets[link] = sum;
  }
  linkOffsets[linkFlowCount.length] = sum;
}

/** Lists the entries of each link, ascending; none of them has ended. */
function indexByLink(active: ActiveFlows): void {
  const { count, pathOffsets, pathLinks, linkOffsets } = active;
  if (active.linkFlows.length < pathOffsets[count]) active.linkFlows = new Int32Array(pathOffsets[count]);
  const { linkFlows } = active;
  linkEnds(active);
  for (let f = count - 1; f >= 0; f--) {
    for (let hop = pathOffsets[f]; hop < pathOffsets[f + 1]; hop++)
      linkFlows[--linkOffsets[pathLinks[hop]]] = f;
  }
}
