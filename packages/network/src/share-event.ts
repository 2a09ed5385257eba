/**
 * One exact step of max-min fair sharing: rates of all active flows, and the time to the next end.
 * One idea: links fill in order of the share they can give; a heap finds the next one, and a share only ever
 * rises while others fill, so an old key is a lower bound that is brought up to date when it is drawn.
 */
import { type ActiveFlows, endEntry } from './active-flows.js';

export interface ShareScratch {
  readonly rates: Float64Array;
  readonly free: Float64Array;
  readonly sharers: Int32Array;
  readonly heap: Int32Array;
  readonly keys: Float64Array;
}

export function shareScratch(flowCount: number, linkCount: number): ShareScratch {
  return {
    rates: new Float64Array(flowCount),
    free: new Float64Array(linkCount),
    sharers: new Int32Array(linkCount),
    heap: new Int32Array(linkCount),
    keys: new Float64Array(linkCount),
  };
}

/** Writes the max-min fair rates of the active flows, in the unit of `capacity`, to `scratch.rates`; 0 for entries that have ended. */
export function shareFairly(active: ActiveFlows, capacity: Float64Array, scratch: ShareScratch): void {
  const { rates, free, sharers, heap, keys } = scratch;
  const { linkOffsets, linkFlows, pathOffsets, pathLinks } = active;
  rates.fill(-1, 0, active.count);
  for (let k = 0; k < active.endedCount; k++) rates[active.ended[k]] = 0;
  let size = active.linkCount;
  for (let at = 0; at < size; at++) {
    const link = active.linksUsed[at];
    free[link] = capacity[link];
    sharers[link] = active.linkFlowCount[link];
    keys[link] = free[link] / sharers[link];
    heap[at] = link;
  }
  for (let at = (size >> 1) - 1; at >= 0; at--) sink(heap, keys, size, at);
  while (size > 0) {
    const link = heap[0];
    const share = sharers[link] === 0 ? Number.POSITIVE_INFINITY : free[link] / sharers[link];
    if (share > keys[link] && share !== Number.POSITIVE_INFINITY) {
      keys[link] = share;
      sink(heap, keys, size, 0);
      continue;
    }
    heap[0] = heap[--size];
    sink(heap, keys, size, 0);
    if (sharers[link] === 0) continue;
    for (let k = linkOffsets[link]; k < linkOffsets[link + 1]; k++) {
      const f = linkFlows[k];
      if (rates[f] >= 0) continue;
      rates[f] = share;
      for (let hop = pathOffsets[f]; hop < pathOffsets[f + 1]; hop++) {
        free[pathLinks[hop]] -= share;
        sharers[pathLinks[hop]] -= 1;
      }
    }
  }
}

function sink(heap: Int32Array, keys: Float64Array, size: number, start: number): void {
  const link = heap[start];
  const key = keys[link];
  let at = start;
  for (let child = 2 * at + 1; child < size; child = 2 * at + 1) {
    if (child + 1 < size && keys[heap[child + 1]] < keys[heap[child]]) child += 1;
    if (keys[heap[child]] >= key) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = link;
}

/**
 * Runs the active flows at their fair rates until the next of them ends, ends it and returns how long that took.
 * Bytes that rounding leaves of a flow that ends at the same moment are none: below 1e-12 of `bytes`, [all flows].
 */
export function runToNextEnd(
  active: ActiveFlows,
  capacity: Float64Array,
  bytes: Float64Array,
  scratch: ShareScratch,
): number {
  shareFairly(active, capacity, scratch);
  const { rates } = scratch;
  const { left, flow, count } = active;
  // Of what has ended nothing is left at no rate: 0 / 0 is not less than any step.
  let step = Number.POSITIVE_INFINITY;
  for (let f = 0; f < count; f++) {
    const needs = left[f] / rates[f];
    if (needs < step) step = needs;
  }
  for (let f = 0; f < count; f++) {
    if (rates[f] === 0) continue;
    const rest = left[f] - rates[f] * step;
    if (rest > bytes[flow[f]] * 1e-12) left[f] = rest;
    else endEntry(active, f);
  }
  return step;
}
