/**
 * The levels of one stretch: what each link grants to each of its flows so that it is exactly full or limits nobody.
 * One idea: links are solved one by one against the levels of the others, by Newton's method from where they
 * were, until nothing moves; one reading of a link's flows gives its offers and the first step.
 * Does not know where the stretch begins or what becomes of flows that end in it.
 */
import type { FlowGrid, Side } from './flow-grid.js';

/** Level of a link that limits nobody: a number that any bytes are below, and that times 0 is 0. */
export const UNLIMITED = Number.MAX_VALUE;
/** Volumes that change by less than this from one round to the next are settled. */
const SETTLED = 1e-3;
const MAX_ROUNDS = 40;
/** A Newton step from this near is the last: what it misses is of second order. */
const NEAR = 1e-6;
const MAX_STEPS = 60;
/** A link that offers leave this far below its volume is looked at again only when all others have settled. */
const SPARE = 0.9;

interface Solver {
  readonly grid: FlowGrid;
  readonly level: Float64Array;
  readonly idle: Float64Array;
  /** The most that any level rose in each round, as a factor. */
  readonly rises: number[];
  /** What the flows of the link at hand would move if it did not limit them. */
  readonly offers: Float64Array;
  /** Of the offers of the link at hand: their sum, what is above the level tried, and how many are. */
  total: number;
  over: number;
  above: number;
}

export interface LinkStates {
  /** Where to start from, then the levels found, [links]. */
  readonly level: Float64Array;
  /** Nanoseconds that each link needs for the bytes left, [links]. */
  readonly drain: Float64Array;
  /** Written: share of each link's volume that offers leave unused, [links]. */
  readonly idle: Float64Array;
}

/**
 * Finds the levels of a stretch of `ns`; leaves the level of each segment in `grid`. A link whose drain is no
 * longer than the stretch limits nobody.
 */
export function settleLevels(
  grid: FlowGrid,
  capacity: Float64Array,
  ns: number,
  { level, drain, idle }: LinkStates,
): void {
  const links: number[] = [];
  for (let link = 0; link < level.length; link++) {
    if (grid.linkFlows[link] > 0 && drain[link] > ns) {
      links.push(link);
      continue;
    }
    level[link] = UNLIMITED;
    idle[link] = 1 - drain[link] / ns;
  }
  for (const side of [grid.rows, grid.columns])
    side.level.set(side.level.map((_, i) => levelOf(side, i, level, -1)));
  const most = links.reduce((count, link) => Math.max(count, grid.linkFlows[link]), 0);
  const solver: Solver = {
    grid,
    level,
    idle,
    rises: [],
    offers: new Float64Array(most),
    total: 0,
    over: 0,
    above: 0,
  };
  const lookedAt = new Int32Array(level.length).fill(-1);
  let everyLink = true;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    let change = 0;
    let skipped = 0;
    solver.rises.push(1);
    for (const link of links) {
      if (lookedAt[link] >= 0 && level[link] === UNLIMITED) {
        const used = 1 - idle[link];
        if (used * riseSince(solver, lookedAt[link]) <= 1) continue;
        if (!everyLink && lookedAt[link] > 0 && used < SPARE) {
          skipped += 1;
          continue;
        }
      }
      const volume = capacity[link] * ns;
      change = Math.max(change, solveLink(solver, link, volume) / volume);
      lookedAt[link] = round;
    }
    if (change < SETTLED && skipped === 0) return;
    everyLink = change < SETTLED;
  }
}

/** The most that any level has risen since the beginning of a round, as a factor: no offer has risen more. */
function riseSince({ rises }: Solver, round: number): number {
  let rise = 1;
  for (let r = round; r < rises.length; r++) rise *= rises[r];
  return rise;
}

/** Solves one link against the others; returns by how much its volume changes. */
function solveLink(solver: Solver, link: number, volume: number): number {
  const { grid, level } = solver;
  const count = grid.linkFlows[link];
  const before = level[link];
  let now = before === UNLIMITED ? volume / count : before;
  readOffers(solver, link, now);
  const { total } = solver;
  const taken = before === UNLIMITED ? total : total - solver.over;
  if (total <= volume) now = UNLIMITED;
  else now = waterLevel(solver, count, volume, now);
  if (now !== before) {
    const rise = now === UNLIMITED ? Number.POSITIVE_INFINITY : now / before;
    solver.rises[solver.rises.length - 1] = Math.max(rise, solver.rises[solver.rises.length - 1]);
    level[link] = now;
    spread(grid.rows, link, level);
    spread(grid.columns, link, level);
  }
  solver.idle[link] = 1 - Math.min(total, volume) / volume;
  return Math.abs(Math.min(total, volume) - taken);
}

/** The level x at which sum(min(offer, x)) = volume, where all offers are more; the offers have been read at `guess`. */
function waterLevel(solver: Solver, count: number, volume: number, guess: number): number {
  // Newton on a concave function: from above it lands below the solution, from below it rises and stops there.
  let level = guess;
  for (let step = 0; step < MAX_STEPS; step++) {
    const missing = volume - (solver.total - solver.over);
    const next = solver.above === 0 ? volume / count : level + missing / solver.above;
    if (Math.abs(missing) < volume * NEAR && solver.above > 0) return Math.min(next, level * (1 + NEAR));
    level = next;
    measureOver(solver, count, level);
  }
  return level;
}

// Comparisons are turned into numbers below because processors guess branches on such data wrongly half of the time.

/** Reads the offers of all flows of a link and measures them against `level`. */
function readOffers(solver: Solver, link: number, level: number): void {
  const { rows, columns } = solver.grid;
  solver.total = 0;
  solver.over = 0;
  solver.above = 0;
  let at = 0;
  for (const [side, other] of [
    [rows, columns],
    [columns, rows],
  ]) {
    for (let s = side.linkOffsets[link]; s < side.linkOffsets[link + 1]; s++) {
      const segment = side.ofLink[s];
      const cap = levelOf(side, segment, solver.level, link);
      if (cap === UNLIMITED) readSegment(solver, side, other.level, segment, level, at);
      else readCapped(solver, side, other.level, segment, level, at, cap);
      at += side.count[segment];
    }
  }
}

/** Reads the offers of the flows of one segment to offers[begin] and on. */
function readSegment(
  solver: Solver,
  { start, count, left, across }: Side,
  acrossLevel: Float64Array,
  segment: number,
  level: number,
  begin: number,
): void {
  const { offers } = solver;
  const first = start[segment];
  const flows = count[segment];
  let { total, over, above } = solver;
  for (let k = 0; k < flows; k++) {
    const bytes = left[first + k];
    const bar = acrossLevel[across[first + k]];
    const offer = bytes - Number(bytes > bar) * (bytes - bar);
    offers[begin + k] = offer;
    total += offer;
    const more = offer - level;
    const isMore = Number(more > 0);
    over += isMore * more;
    above += isMore;
  }
  solver.total = total;
  solver.over = over;
  solver.above = above;
}

/** The same where another link of the segment grants no more than `cap`; apart, since one form for both takes 15 % longer. */
function readCapped(
  solver: Solver,
  { start, count, left, across }: Side,
  acrossLevel: Float64Array,
  segment: number,
  level: number,
  begin: number,
  cap: number,
): void {
  const { offers } = solver;
  const first = start[segment];
  const flows = count[segment];
  let { total, over, above } = solver;
  for (let k = 0; k < flows; k++) {
    const bytes = left[first + k];
    const bar = acrossLevel[across[first + k]];
    const least = bytes - Number(bytes > bar) * (bytes - bar);
    const offer = least - Number(least > cap) * (least - cap);
    offers[begin + k] = offer;
    total += offer;
    const more = offer - level;
    const isMore = Number(more > 0);
    over += isMore * more;
    above += isMore;
  }
  solver.total = total;
  solver.over = over;
  solver.above = above;
}

/** Measures the offers at hand against another level. */
function measureOver(solver: Solver, count: number, level: number): void {
  const { offers } = solver;
  let over = 0;
  let above = 0;
  for (let k = 0; k < count; k++) {
    const more = offers[k] - level;
    const isMore = Number(more > 0);
    over += isMore * more;
    above += isMore;
  }
  solver.over = over;
  solver.above = above;
}

/** The smallest level of the links of a segment but one. */
function levelOf({ segments }: Side, segment: number, level: Float64Array, but: number): number {
  let least = UNLIMITED;
  for (let hop = segments.offsets[segment]; hop < segments.offsets[segment + 1]; hop++) {
    const link = segments.links[hop];
    if (link !== but && level[link] < least) least = level[link];
  }
  return least;
}

/** Brings the segments of a link up to date. */
function spread(side: Side, link: number, level: Float64Array): void {
  for (let s = side.linkOffsets[link]; s < side.linkOffsets[link + 1]; s++) {
    const segment = side.ofLink[s];
    side.level[segment] = levelOf(side, segment, level, -1);
  }
}
