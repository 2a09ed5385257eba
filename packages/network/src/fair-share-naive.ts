/**
 * Max-min fair sharing in its plainest form, to learn from and to check the fast form against.
 * One idea: raise the rate of all flows together; a flow stops when a link on its way is full. Run at these
 * rates until the next flow ends, and share anew.
 * Visits every flow and link at every step: for small exchanges only.
 */
import type { Flows } from './flows.js';

/**
 * Max-min fair rate of each active flow in the unit of `capacity`, [count]; 0 for the others.
 * In the result every active flow has a full link on which no other flow is faster.
 */
export function maxMinRates(
  flows: Flows,
  capacity: Float64Array,
  active: Uint8Array,
  out: Float64Array,
): Float64Array {
  const { count, pathOffsets, pathLinks } = flows;
  const rising = Uint8Array.from(active);
  out.fill(0);
  while (rising.includes(1)) {
    const free = Float64Array.from(capacity);
    const sharers = new Int32Array(capacity.length);
    for (let flow = 0; flow < count; flow++) {
      for (let hop = pathOffsets[flow]; hop < pathOffsets[flow + 1]; hop++) {
        if (rising[flow] === 1) sharers[pathLinks[hop]] += 1;
        else free[pathLinks[hop]] -= out[flow];
      }
    }
    let full = -1;
    for (let link = 0; link < capacity.length; link++) {
      if (sharers[link] === 0) continue;
      if (full < 0 || free[link] / sharers[link] < free[full] / sharers[full]) full = link;
    }
    for (let flow = 0; flow < count; flow++) {
      const path = pathLinks.subarray(pathOffsets[flow], pathOffsets[flow + 1]);
      if (rising[flow] === 0 || !path.includes(full)) continue;
      out[flow] = free[full] / sharers[full];
      rising[flow] = 0;
    }
  }
  return out;
}

/** Nanoseconds at which each flow has sent its last byte, [count]; `capacity` in bytes per ns, [links]. */
export function flowEndsNaive(flows: Flows, capacity: Float64Array): Float64Array {
  const left = Float64Array.from(flows.bytes);
  const active = new Uint8Array(flows.count).fill(1);
  const rates = new Float64Array(flows.count);
  const ends = new Float64Array(flows.count);
  let now = 0;
  while (active.includes(1)) {
    maxMinRates(flows, capacity, active, rates);
    let step = Number.POSITIVE_INFINITY;
    for (let flow = 0; flow < flows.count; flow++) {
      if (active[flow] === 1) step = Math.min(step, left[flow] / rates[flow]);
    }
    now += step;
    for (let flow = 0; flow < flows.count; flow++) {
      if (active[flow] === 0) continue;
      left[flow] -= rates[flow] * step;
      if (left[flow] > flows.bytes[flow] * 1e-12) continue;
      active[flow] = 0;
      ends[flow] = now;
    }
  }
  return ends;
}
