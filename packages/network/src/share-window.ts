/**
 * Many ends at once: a stretch of time shared max-min fairly as a whole, for exchanges too large for single ends.
 * One idea: let level X of a link be what it grants to each flow within the stretch. Every flow moves
 * min(its bytes, the levels on its way), and a link that limits anyone is exactly full. As long as no flow
 * changes the link that limits it, this is what sharing anew at every end gives, however many flows end;
 * a change within the stretch costs only the square of its length. A stretch as long as the bound on what is
 * left moves everything: with one stretch this model is the bound.
 */
import { type ActiveFlows, indexByLink, linkEnds } from './active-flows.js';

/** Levels that change by less than this from one round to the next are settled. */
const SETTLED = 1e-3;
const MAX_ROUNDS = 40;
/** Level of a link that limits nobody: a number that any bytes are below, and that times 0 is 0. */
const UNLIMITED = Number.MAX_VALUE;
const MAX_STEPS = 60;

export interface WindowScratch {
  /** Nanoseconds that each link needs for the bytes left, [links]. */
  readonly drain: Float64Array;
  /** Bytes that each flow of a link may still take in the stretch, UNLIMITED where the link limits nobody, [links]. */
  readonly level: Float64Array;
  /** Length of the stretch that `level` belongs to. */
  ns: number;
  /** What the flows of the link at hand would move if it did not limit them. */
  readonly offers: Float64Array;
  /** What is left is not cut finer than this; 0 before the first stretch. */
  finest: number;
  readonly moved: Float64Array;
  /** Where all paths are pairs of links: bytes left and other link of each entry of `linkFlows`; else empty. */
  readonly pairLeft: Float64Array;
  readonly pairOther: Int32Array;
}

export function windowScratch(active: ActiveFlows): WindowScratch {
  const linkCount = active.linkFlowCount.length;
  const entries = arePairs(active) ? active.pathOffsets[active.count] : 0;
  return {
    drain: new Float64Array(linkCount),
    level: new Float64Array(linkCount).fill(UNLIMITED),
    ns: 1,
    finest: 0,
    offers: new Float64Array(active.linkFlowCount.reduce((most, count) => Math.max(most, count), 0)),
    moved: new Float64Array(linkCount),
    pairLeft: new Float64Array(entries),
    pairOther: new Int32Array(entries),
  };
}

function arePairs(active: ActiveFlows): boolean {
  for (let f = 0; f <= active.count; f++) if (active.pathOffsets[f] !== 2 * f) return false;
  return true;
}

/**
 * Length of the next stretch in ns: half of what the bound says is left, less where a quarter of the links
 * could be empty sooner, but at least a sixty-fourth; all of it once it is a thousandth of the whole.
 */
export function windowLength(active: ActiveFlows, capacity: Float64Array, scratch: WindowScratch): number {
  const { drain } = scratch;
  const { pathOffsets, pathLinks, left } = active;
  drain.fill(0);
  for (let f = 0; f < active.count; f++) {
    for (let hop = pathOffsets[f]; hop < pathOffsets[f + 1]; hop++) drain[pathLinks[hop]] += left[f];
  }
  const drains = new Float64Array(active.linkCount);
  for (let at = 0; at < active.linkCount; at++) {
    const link = active.linksUsed[at];
    drain[link] /= capacity[link];
    drains[at] = drain[link];
  }
  drains.sort();
  const longest = drains[drains.length - 1];
  if (scratch.finest === 0) scratch.finest = longest / 1024;
  if (longest <= scratch.finest) return longest;
  return Math.min(longest / 2, Math.max(drains[drains.length >> 2], longest / 64));
}

/**
 * Finds the levels of a stretch of `ns`, starting from what `level` holds: link by link, each solved against the
 * levels of the others, until nothing moves.
 */
function settleLevels(active: ActiveFlows, capacity: Float64Array, ns: number, scratch: WindowScratch): void {
  const { level, offers } = scratch;
  const pairs = scratch.pairLeft.length > 0;
  if (pairs) layOutPairs(active, scratch);
  else indexByLink(active);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    let change = 0;
    for (let at = 0; at < active.linkCount; at++) {
      const link = active.linksUsed[at];
      const count = active.linkFlowCount[link];
      const volume = capacity[link] * ns;
      const before = level[link];
      const total = pairs ? pairOffers(active, link, scratch) : pathOffers(active, link, level, offers);
      const now = total <= volume ? UNLIMITED : waterLevel(offers, count, volume, before);
      change = Math.max(change, Math.abs(Math.min(total, volume) - takenAt(offers, count, before)) / volume);
      level[link] = now;
    }
    if (change < SETTLED) return;
  }
}

// Comparisons are turned into numbers below because processors guess branches on such data wrongly half of the time.

/** sum(min(offer, level)) */
function takenAt(offers: Float64Array, count: number, level: number): number {
  let taken = 0;
  for (let k = 0; k < count; k++) {
    const offer = offers[k];
    taken += offer - Number(offer > level) * (offer - level);
  }
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

/** Lays out what `pairOffers` reads in the order in which it reads it: three times as fast on 4 million flows. */
function layOutPairs(active: ActiveFlows, scratch: WindowScratch): void {
  const { pairLeft, pairOther } = scratch;
  const { pathLinks, left, linkOffsets } = active;
  linkEnds(active);
  for (let f = active.count - 1; f >= 0; f--) {
    const first = pathLinks[2 * f];
    const second = pathLinks[2 * f + 1];
    const here = --linkOffsets[first];
    const there = --linkOffsets[second];
    pairLeft[here] = left[f];
    pairOther[here] = second;
    pairLeft[there] = left[f];
    pairOther[there] = first;
  }
}

/** `pathOffers` where every path has two links. */
function pairOffers(active: ActiveFlows, link: number, scratch: WindowScratch): number {
  const { level, offers, pairLeft, pairOther } = scratch;
  const begin = active.linkOffsets[link];
  const count = active.linkFlowCount[link];
  let total = 0;
  for (let k = 0; k < count; k++) {
    const left = pairLeft[begin + k];
    const bar = level[pairOther[begin + k]];
    const offer = left - Number(left > bar) * (left - bar);
    offers[k] = offer;
    total += offer;
  }
  return total;
}

/** The level x at which sum(min(offer, x)) = volume, where all offers are more than that. `guess` saves steps. */
function waterLevel(offers: Float64Array, count: number, volume: number, guess: number): number {
  // Newton on a concave function: from above it lands below the solution, from below it rises and stops there.
  let level = guess === UNLIMITED ? volume / count : guess;
  let limited = -1;
  for (let step = 0; step < MAX_STEPS; step++) {
    let taken = 0;
    let above = 0;
    for (let k = 0; k < count; k++) {
      const over = offers[k] - level;
      const isOver = Number(over > 0);
      taken += offers[k] - isOver * over;
      above += isOver;
    }
    if (above === limited) return level;
    limited = above === 0 ? -1 : above;
    const next = above === 0 ? volume / count : level + (volume - taken) / above;
    if (Math.abs(next - level) <= level * 1e-6) return next;
    level = next;
  }
  return level;
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
  const { drain, level, moved } = scratch;
  const { count, left, pathOffsets, pathLinks } = active;
  for (let link = 0; link < level.length; link++) {
    if (level[link] !== UNLIMITED) level[link] *= ns / scratch.ns;
  }
  scratch.ns = ns;
  settleLevels(active, capacity, ns, scratch);
  moved.fill(0);
  for (let f = 0; f < count; f++) {
    const begin = pathOffsets[f];
    const end = pathOffsets[f + 1];
    let granted = UNLIMITED;
    for (let hop = begin; hop < end; hop++) {
      const bar = level[pathLinks[hop]];
      if (bar < granted) granted = bar;
    }
    const bytes = left[f];
    ends[f] = 0;
    if (bytes * (1 - 1e-9) > granted) {
      for (let hop = begin; hop < end; hop++) moved[pathLinks[hop]] += granted;
      left[f] = bytes - granted;
      continue;
    }
    // Limited by a level: it rises about evenly. Limited by none: its links are empty before the stretch ends.
    let ended = granted === UNLIMITED ? 0 : ns * (bytes / granted);
    for (let hop = begin; hop < end; hop++) {
      moved[pathLinks[hop]] += bytes;
      if (granted === UNLIMITED) ended = Math.max(ended, drain[pathLinks[hop]]);
    }
    ends[f] = Math.min(ended, ns);
    left[f] = 0;
  }
  let length = ns;
  for (let at = 0; at < active.linkCount; at++) {
    const link = active.linksUsed[at];
    length = Math.max(length, moved[link] / capacity[link]);
  }
  return length;
}
