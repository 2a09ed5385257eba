/**
 * The flows of a large exchange as a grid: rows are the first halves of paths, columns the second halves.
 * One idea: a link belongs to whole rows or whole columns, so that what it carries is read as runs of memory,
 * twice stored, by rows and by columns, and no flow keeps a list of its links.
 */
import type { Flows } from './flows.js';
import { type FlowsLeft, findSegments, type Segments } from './segments.js';

/** One of the two orders in which flows are stored; its segments are the rows or the columns. */
export interface Side {
  readonly segments: Segments;
  /** Flows of segment i: entries start[i] .. start[i] + count[i] - 1. */
  readonly start: Int32Array;
  readonly count: Int32Array;
  /** Bytes not yet sent, [entries]. */
  readonly left: Float64Array;
  /** Segment of the other side, [entries]. */
  readonly across: Int32Array;
  /** Bytes left of all flows of each segment, [segments]. */
  readonly bytes: Float64Array;
  /** What the segment grants to each of its flows: the smallest level of its links, [segments]. */
  readonly level: Float64Array;
  /** Segments of link l: ofLink[linkOffsets[l]] .. ofLink[linkOffsets[l + 1] - 1]. */
  readonly linkOffsets: Int32Array;
  readonly ofLink: Int32Array;
}

export interface FlowGrid {
  /** Flows that still have bytes to send. */
  count: number;
  /** As many as there were when the grid was laid out. */
  readonly laidOut: number;
  readonly rows: Side;
  readonly columns: Side;
  /** Index in the full list of flows of each entry of `rows`. */
  readonly flow: Int32Array;
  /** Flows of each row that ended in the last stretch; their entries are behind those that go on. */
  readonly ended: Int32Array;
  /** Flows over each link, [links]. */
  readonly linkFlows: Int32Array;
}

export function layOutGrid(flows: Flows, at: FlowsLeft, linkCount: number): FlowGrid {
  const first = findSegments(flows, at, 'first');
  const second = findSegments(flows, at, 'second');
  const rows = sideOf(first, at, linkCount);
  const columns = sideOf(second, at, linkCount);
  const flow = new Int32Array(at.count);
  for (let i = 0; i < at.count; i++) {
    const row = first.ofFlow[i];
    const column = second.ofFlow[i];
    const here = rows.start[row] + rows.count[row]++;
    const there = columns.start[column] + columns.count[column]++;
    flow[here] = at.flow === null ? i : at.flow[i];
    rows.left[here] = at.left[i];
    rows.across[here] = column;
    columns.left[there] = at.left[i];
    columns.across[there] = row;
  }
  const ended = new Int32Array(first.count);
  const linkFlows = new Int32Array(linkCount);
  const grid = { count: at.count, laidOut: at.count, rows, columns, flow, ended, linkFlows };
  countLinkFlows(grid);
  return grid;
}

/** A side with room for its flows and none of them yet. */
function sideOf(segments: Segments, at: FlowsLeft, linkCount: number): Side {
  const { count, ofFlow, offsets, links } = segments;
  const start = new Int32Array(count + 1);
  const bytes = new Float64Array(count);
  for (let i = 0; i < at.count; i++) {
    start[ofFlow[i] + 1] += 1;
    bytes[ofFlow[i]] += at.left[i];
  }
  for (let segment = 0; segment < count; segment++) start[segment + 1] += start[segment];
  const linkOffsets = new Int32Array(linkCount + 1);
  for (const link of links) linkOffsets[link + 1] += 1;
  for (let link = 0; link < linkCount; link++) linkOffsets[link + 1] += linkOffsets[link];
  const ofLink = new Int32Array(links.length);
  const next = linkOffsets.slice();
  for (let segment = 0; segment < count; segment++) {
    for (let hop = offsets[segment]; hop < offsets[segment + 1]; hop++) ofLink[next[links[hop]]++] = segment;
  }
  return {
    segments,
    start,
    count: new Int32Array(count),
    left: new Float64Array(at.count),
    across: new Int32Array(at.count),
    bytes,
    level: new Float64Array(count),
    linkOffsets,
    ofLink,
  };
}

/** Brings the number of flows of each link up to date. */
export function countLinkFlows(grid: FlowGrid): void {
  grid.linkFlows.fill(0);
  for (const side of [grid.rows, grid.columns]) addToLinks(side, side.count, grid.linkFlows);
}

/** Adds a figure of each segment to all links of the segment. */
export function addToLinks(
  { segments }: Side,
  ofSegment: Int32Array | Float64Array,
  out: Int32Array | Float64Array,
): void {
  for (let segment = 0; segment < segments.count; segment++) {
    for (let hop = segments.offsets[segment]; hop < segments.offsets[segment + 1]; hop++)
      out[segments.links[hop]] += ofSegment[segment];
  }
}

/** The flows that are left, ascending as in the full list. */
export function flowsLeft(grid: FlowGrid): FlowsLeft {
  const flow = new Int32Array(grid.count);
  const left = new Float64Array(grid.count);
  const { start, count, segments } = grid.rows;
  let at = 0;
  for (let row = 0; row < segments.count; row++) {
    for (let k = start[row]; k < start[row] + count[row]; k++) {
      flow[at] = grid.flow[k];
      left[at++] = grid.rows.left[k];
    }
  }
  return { count: grid.count, flow, left };
}

/** Whether so few flows are left that a grid of these alone would be much smaller. */
export function isSparse({ count, laidOut, rows, columns }: FlowGrid): boolean {
  return 8 * count < laidOut && count < rows.segments.count + columns.segments.count;
}
