/**
 * Many ends at once: a stretch of time shared max-min fairly as a whole, for exchanges too large for single ends.
 * One idea: let level X of a link be what it grants to each flow within the stretch. Every flow moves
 * min(its bytes, the levels on its way), and a link that limits anyone is exactly full. As long as no flow
 * changes the link that limits it, this is what sharing anew at every end gives, however many flows end;
 * a change within the stretch costs only the square of its length. A stretch as long as the bound on what is
 * left moves everything: with one stretch this model is the bound.
 */
import { type ActiveFlows, indexByLink } from './active-flows.js';

/** Levels that change by less than this from one round to the next are settled. */
const SETTLED = 1e-4;
const MAX_ROUNDS = 40;
/** How much further than its solution a stage goes. */
const OVER = 0.15;

export interface WindowScratch {
  /** Bytes left per link, [links]. */
  readonly load: Float64Array;
  /** Bytes that each flow of a link may still take in the stretch, infinite where the link limits nobody, [links]. */
  readonly level: Float64Array;
  /** Length of the stretch that `level` belongs to. */
  ns: number;
  readonly offers: Float64Array;
  readonly moved: Float64Array;
}

export function windowScratch(active: ActiveFlows): WindowScratch {
  const linkCount = active.linkFlowCount.length;
  return {
    load: new Float64Array(linkCount),
    level: new Float64Array(linkCount).fill(Number.POSITIVE_INFINITY),
    ns: 1,
    offers: new Float64Array(active.linkFlowCount.reduce((most, count) => Math.max(most, count), 0)),
    moved: new Float64Array(linkCount),
  };
}

/**
 * Length of the next stretch in ns: half of what the bound says is left, less where a quarter of the links
 * could be empty sooner, but at least a sixteenth.
 */
export function windowLength(active: ActiveFlows, capacity: Float64Array, scratch: WindowScratch): number {
  const { load } = scratch;
  load.fill(0);
  for (let f = 0; f < active.count; f++) {
    for (let hop = active.pathOffsets[f]; hop < active.pathOffsets[f + 1]; hop++) {
      load[active.pathLinks[hop]] += active.left[f];
    }
  }
  const drains = new Float64Array(active.linkCount);
  for (let at = 0; at < active.linkCount; at++) {
    drains[at] = load[active.linksUsed[at]] / capacity[active.linksUsed[at]];
  }
  drains.sort();
  const longest = drains[drains.length - 1];
  return Math.min(longest / 2, Math.max(drains[drains.length >> 2], longest / 16));
}

/**
 * Finds the levels of a stretch of `ns`, starting from what `level` holds: link by link, each solved against the
 * levels of the others, until nothing moves. Links push each other on in one direction, so each goes a little
 * further than its solution (successive over-relaxation), which saves half of the rounds.
 */
function settleLevels(active: ActiveFlows, capacity: Float64Array, ns: number, scratch: WindowScratch): void {
  const { level, offers } = scratch;
  const pairs = active.pathOffsets[active.count] === 2 * active.count;
  indexByLink(active);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    let change = 0;
    for (let at = 0; at < active.linkCount; at++) {
      const link = active.linksUsed[at];
      const count = active.linkFlowCount[link];
      const volume = capacity[link] * ns;
      const before = level[link];
      const total = pairs ? pairOffers(active, link, level, offers) : pathOffers(active, link, level, offers);
      const now = total <= volume ? Number.POSITIVE_INFINITY : waterLevel(offers, count, volume, before);
      const taken = takenAt(offers, count, before);
      change = Math.max(change, Math.abs(Math.min(total, volume) - taken) / volume);
      const step = now - before;
      level[link] = Number.isFinite(step) ? now + OVER * step : now;
    }
    if (change < SETTLED) return;
  }
}

function takenAt(offers: Float64Array, count: number, level: number): number {
  let taken = 0;
  for (let k = 0; k < count; k++) taken += Math.min(offers[k], level);
  return taken;
}

/** Writes what each flow of a link would move if the link did not limit it; returns the sum. */
function pathOffers(active: ActiveFlows, link: number, level: Float64Array, out: Float64Array): number {
  const { linkFlows, pathOffsets, pathLinks, left } = active;
  const begin = active.linkOffsets[link];
  const count = active.linkFlowCount[link];
  let total = 0;
  for (let k = 0; k < count; k++) {
    const f = linkFlows[begin + k];
    let offer = left[f];
    for (let hop = pathOffsets[f]; hop < pathOffsets[f + 1]; hop++) {
      const other = pathLinks[hop];
      if (other !== link && level[other] < offer) offer = level[other];
    }
    out[k] = offer;
    total += offer;
  }
  return total;
}

/** The same where every path has two links. */
function pairOffers(active: ActiveFlows, link: number, level: Float64Array, out: Float64Array): number {
  const { linkFlows, pathLinks, left } = active;
  const begin = active.linkOffsets[link];
  const count = active.linkFlowCount[link];
  let total = 0;
  for (let k = 0; k < count; k++) {
    const f = linkFlows[begin + k];
    const bar = level[pathLinks[2 * f] + pathLinks[2 * f + 1] - link];
    const offer = Math.min(left[f], bar);
    out[k] = offer;
    total += offer;
  }
  return total;
}

/** The level x at which sum(min(offer, x)) = volume, where all offers are more than that. `guess` saves steps. */
function waterLevel(offers: Float64Array, count: number, volume: number, guess: number): number {
  // Newton on a concave function: from above it lands below the solution, from below it rises and stops there.
  let level = guess < Number.POSITIVE_INFINITY ? guess : volume / count;
  for (let limited = -1; ; ) {
    let taken = 0;
    let above = 0;
    for (let k = 0; k < count; k++) {
      const offer = offers[k];
      taken += Math.min(offer, level);
      above += offer > level ? 1 : 0;
    }
    if (above === limited) return level;
    limited = above === 0 ? -1 : above;
    const next = above === 0 ? volume / count : level + (volume - taken) / above;
    if (Math.abs(next - level) <= level * 1e-7) return next;
    level = next;
  }
}

/**
 * Shares a stretch of about `ns`, lowers `left`, and writes when each active flow that ends does so,
 * counted from the start of the stretch, to `ends` (0 for those that go on). Returns the length, a little more
 * than `ns` where levels had not settled, so that no link carries more than it can.
 */
export function runWindow(
  active: ActiveFlows,
  capacity: Float64Array,
  ns: number,
  scratch: WindowScratch,
  ends: Float64Array,
): number {
  const { load, level, moved } = scratch;
  const { count, left, pathOffsets, pathLinks } = active;
  for (let link = 0; link < level.length; link++) level[link] *= ns / scratch.ns;
  scratch.ns = ns;
  settleLevels(active, capacity, ns, scratch);
  moved.fill(0);
  ends.fill(0, 0, count);
  for (let f = 0; f < count; f++) {
    let granted = Number.POSITIVE_INFINITY;
    let drain = 0;
    for (let hop = pathOffsets[f]; hop < pathOffsets[f + 1]; hop++) {
      const link = pathLinks[hop];
      granted = Math.min(granted, level[link]);
      drain = Math.max(drain, load[link] / capacity[link]);
    }
    const bytes = Math.min(left[f], granted);
    for (let hop = pathOffsets[f]; hop < pathOffsets[f + 1]; hop++) moved[pathLinks[hop]] += bytes;
    if (left[f] > granted * (1 + 1e-9)) {
      left[f] -= bytes;
      continue;
    }
    // Limited by a level: it rises about evenly. Limited by none: its links are empty before the stretch ends.
    ends[f] = granted === Number.POSITIVE_INFINITY ? Math.min(drain, ns) : ns * (left[f] / granted);
    left[f] = 0;
  }
  let length = ns;
  for (let at = 0; at < active.linkCount; at++) {
    const link = active.linksUsed[at];
    length = Math.max(length, moved[link] / capacity[link]);
  }
  return length;
}
