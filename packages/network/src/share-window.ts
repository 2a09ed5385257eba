/**
 * Many ends at once: a stretch of time shared max-min fairly as a whole, for exchanges too large for single ends.
 * One idea: let level X of a link be what it grants to each flow within the stretch. Every flow moves
 * min(its bytes, the levels on its way), and a link that limits anyone is exactly full. As long as no flow
 * changes the link that limits it, this is what sharing anew at every end gives, however many flows end;
 * a change within the stretch costs only the square of its length. A stretch as long as the bound on what is
 * left moves everything: with one stretch this model is the bound.
 */
import { addToLinks, countLinkFlows, type FlowGrid, type Side } from './flow-grid.js';
import { settleLevels, UNLIMITED } from './share-levels.js';

/** What a link that stood idle in the stretch before, and is full in this one, may cost of the whole time. */
const SURPRISE = 5e-4;

export interface WindowScratch {
  /** Nanoseconds that each link needs for the bytes left, [links]. */
  readonly drain: Float64Array;
  /** Bytes that each flow of a link may still take in the stretch, UNLIMITED where the link limits nobody, [links]. */
  readonly level: Float64Array;
  /** Length of the stretch that `level` belongs to, and flows over each link in it. */
  ns: number;
  readonly flowsThen: Int32Array;
  /** Share of each link that the flows do not use, in the stretch before and in the one at hand, [links]. */
  idleBefore: Float64Array;
  idle: Float64Array;
  /** What the bound says of the whole; 0 before the first stretch. */
  wholeNs: number;
  /** The longest drain. */
  longest: number;
  readonly moved: Float64Array;
}

export function windowScratch(linkCount: number): WindowScratch {
  return {
    drain: new Float64Array(linkCount),
    level: new Float64Array(linkCount).fill(UNLIMITED),
    ns: 1,
    flowsThen: new Int32Array(linkCount),
    idleBefore: new Float64Array(linkCount),
    idle: new Float64Array(linkCount),
    wholeNs: 0,
    longest: 0,
    moved: new Float64Array(linkCount),
  };
}

/**
 * Shares the next stretch of time, lowers what is left, and writes when each flow that ends does so to `endNs`,
 * [all flows]; the stretch starts at `now`. Returns its length in ns.
 */
export function runWindow(
  grid: FlowGrid,
  capacity: Float64Array,
  now: number,
  scratch: WindowScratch,
  endNs: Float64Array,
): number {
  const { drain, level, moved } = scratch;
  const { rows, columns, linkFlows } = grid;
  let ns = windowLength(grid, capacity, scratch);
  if (scratch.wholeNs === 0) {
    scratch.wholeNs = scratch.longest;
    shareStretch(grid, capacity, ns / 256, scratch); // what is idle when all begin
  }
  scratch.idleBefore.set(scratch.idle);
  shareStretch(grid, capacity, ns, scratch);
  while (ns > scratch.longest / 256 && surprises(scratch, ns)) {
    ns /= 2;
    shareStretch(grid, capacity, ns, scratch);
  }
  moved.fill(0);
  addToLinks(rows, moveRows(grid, ns, longestDrains(rows, drain), longestDrains(columns, drain)), moved);
  addToLinks(columns, moveColumns(grid), moved);
  // A little more than `ns` where levels had not settled, so that no link carries more than it can.
  let length = ns;
  for (let link = 0; link < level.length; link++) {
    if (linkFlows[link] > 0) length = Math.max(length, moved[link] / capacity[link]);
  }
  writeEnds(grid, now, length / ns, endNs);
  countLinkFlows(grid);
  return length;
}

/**
 * Length of the next stretch in ns: half of what the bound says is left, less where links with a sixteenth of the
 * flows could be empty sooner, but at least a part of 256; all of it once it is a thousandth of the whole.
 */
function windowLength(grid: FlowGrid, capacity: Float64Array, scratch: WindowScratch): number {
  const { drain } = scratch;
  const { linkFlows } = grid;
  drain.fill(0);
  for (const side of [grid.rows, grid.columns]) addToLinks(side, side.bytes, drain);
  let entries = 0;
  const soonest: number[] = [];
  for (let link = 0; link < drain.length; link++) {
    if (linkFlows[link] === 0) continue;
    drain[link] /= capacity[link];
    entries += linkFlows[link];
    soonest.push(link);
  }
  soonest.sort((a, b) => drain[a] - drain[b]);
  const longest = drain[soonest[soonest.length - 1]];
  scratch.longest = longest;
  if (longest <= scratch.wholeNs / 1024) return longest;
  let at = 0;
  for (let sooner = linkFlows[soonest[0]]; sooner < entries / 16; sooner += linkFlows[soonest[at]]) at += 1;
  return Math.min(longest / 2, Math.max(drain[soonest[at]], longest / 256));
}

/** Finds the levels of a stretch of `ns` and what each link has idle in it. */
function shareStretch(grid: FlowGrid, capacity: Float64Array, ns: number, scratch: WindowScratch): void {
  const { level, flowsThen, drain, idle } = scratch;
  // Where fewer flows share a link than in the stretch before, each gets as much more.
  for (let link = 0; link < level.length; link++) {
    if (level[link] !== UNLIMITED)
      level[link] *= (ns / scratch.ns) * (flowsThen[link] / Math.max(1, grid.linkFlows[link]));
  }
  scratch.ns = ns;
  flowsThen.set(grid.linkFlows);
  settleLevels(grid, capacity, ns, { level, drain, idle });
}

/**
 * Whether a link on which the whole time may hang was idle before and is less so now: it may have been idle for
 * part of the stretch too, which a stretch as a whole cannot tell.
 */
function surprises({ drain, idle, idleBefore, longest, wholeNs }: WindowScratch, ns: number): boolean {
  const limit = longest + wholeNs * SURPRISE;
  return drain.some((own, link) => own + (idleBefore[link] - idle[link]) * ns > limit);
}

/** The longest drain of the links of each segment, [segments]. */
function longestDrains({ segments }: Side, drain: Float64Array): Float64Array {
  const longest = new Float64Array(segments.count);
  for (let segment = 0; segment < segments.count; segment++) {
    for (let hop = segments.offsets[segment]; hop < segments.offsets[segment + 1]; hop++)
      longest[segment] = Math.max(longest[segment], drain[segments.links[hop]]);
  }
  return longest;
}

/** How long each segment takes to grant a byte to each of its flows; 0 where it limits nobody, [segments]. */
function nsPerByteOf({ level }: Side, ns: number): Float64Array {
  return level.map((bytes) => (bytes === UNLIMITED ? 0 : ns / bytes));
}

/**
 * Grants each flow its bytes or its level. What goes on moves to the front of its row; behind it, up to `ended`,
 * are the flows that end with the time of their end in place of bytes. Returns the bytes moved, [rows].
 */
function moveRows(
  grid: FlowGrid,
  ns: number,
  rowDrain: Float64Array,
  columnDrain: Float64Array,
): Float64Array {
  const { rows, columns, flow, ended } = grid;
  const { start, count, left, across, bytes } = rows;
  const moved = bytes.slice();
  const rowNsPerByte = nsPerByteOf(rows, ns);
  const columnNsPerByte = nsPerByteOf(columns, ns);
  const longest = count.reduce((most, flows) => Math.max(most, flows), 0);
  const endedFlow = new Int32Array(longest);
  const endedAt = new Float64Array(longest);
  for (let row = 0; row < count.length; row++) {
    const end = start[row] + count[row];
    const bar = rows.level[row];
    const nsPerByte = rowNsPerByte[row];
    let kept = start[row];
    let ends = 0;
    let remain = 0;
    for (let k = start[row]; k < end; k++) {
      const has = left[k];
      const column = across[k];
      const id = flow[k];
      const other = columns.level[column];
      const less = has - Number(has > other) * (has - other);
      const rest = has - less + Number(less > bar) * (less - bar);
      const goesOn = Number(rest > has * 1e-9);
      // Limited by a level: it rises about evenly. Limited by none: its links are empty before the stretch ends.
      const slower =
        nsPerByte + Number(columnNsPerByte[column] > nsPerByte) * (columnNsPerByte[column] - nsPerByte);
      const at = slower === 0 ? Math.max(rowDrain[row], columnDrain[column]) : has * slower;
      endedFlow[ends] = id;
      endedAt[ends] = at;
      ends += 1 - goesOn;
      left[kept] = rest;
      across[kept] = column;
      flow[kept] = id;
      remain += goesOn * rest;
      kept += goesOn;
    }
    count[row] = kept - start[row];
    ended[row] = ends;
    bytes[row] = remain;
    moved[row] -= remain;
    for (let k = 0; k < ends; k++) {
      flow[kept + k] = endedFlow[k];
      left[kept + k] = Math.min(endedAt[k], ns);
    }
    grid.count -= ends;
  }
  return moved;
}

/** The same by columns, without ends. */
function moveColumns({ rows, columns }: FlowGrid): Float64Array {
  const { start, count, left, across, bytes } = columns;
  const moved = bytes.slice();
  for (let column = 0; column < count.length; column++) {
    const end = start[column] + count[column];
    const bar = columns.level[column];
    let kept = start[column];
    let remain = 0;
    for (let k = start[column]; k < end; k++) {
      const has = left[k];
      const row = across[k];
      const other = rows.level[row];
      const less = has - Number(has > other) * (has - other);
      const rest = has - less + Number(less > bar) * (less - bar);
      const goesOn = Number(rest > has * 1e-9);
      left[kept] = rest;
      across[kept] = row;
      remain += goesOn * rest;
      kept += goesOn;
    }
    count[column] = kept - start[column];
    bytes[column] = remain;
    moved[column] -= remain;
  }
  return moved;
}

function writeEnds({ rows, flow, ended }: FlowGrid, now: number, stretch: number, endNs: Float64Array): void {
  for (let row = 0; row < ended.length; row++) {
    const first = rows.start[row] + rows.count[row];
    for (let k = first; k < first + ended[row]; k++) endNs[flow[k]] = now + rows.left[k] * stretch;
  }
}
