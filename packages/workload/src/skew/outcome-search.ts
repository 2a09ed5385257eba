/** Loads with a given spread and hottest expert, and the largest load that a batch of them is expected to show. */

/**
 * Loads by place with mean 1: exp(sigma x spread), none above `cap`, and place 0 at `hottest` with no other above
 * it when that is given. `spreads` descend.
 */
export function logNormalLoads(
  spreads: Float64Array,
  sigma: number,
  cap: number,
  hottest: number | undefined,
): Float64Array {
  const count = spreads.length;
  const loads = spreads.map((spread) => Math.exp(sigma * (spread - spreads[0])));
  const limit = hottest ?? cap;
  let settled = 0;
  if (hottest !== undefined) {
    loads[0] = hottest;
    settled = 1;
  }
  // Places descend, so those that must be cut to the limit are the first ones.
  for (;;) {
    let free = 0;
    for (let i = settled; i < count; i++) free += loads[i];
    const scale = (count - settled * limit) / free;
    if (settled >= count || !(loads[settled] * scale > limit)) {
      for (let i = settled; i < count; i++) loads[i] *= Math.max(0, scale);
      return loads;
    }
    loads[settled] = limit;
    settled++;
  }
}

/** Mean over draws of the largest of load + sqrt(variance) x noise; `noise` is [draws x loads.length]. */
export function expectedMaximum(loads: Float64Array, variances: Float64Array, noise: Float64Array): number {
  const count = loads.length;
  const draws = noise.length / count;
  const deviations = variances.map(Math.sqrt);
  let sum = 0;
  for (let draw = 0; draw < draws; draw++) {
    let most = 0;
    for (let i = 0; i < count; i++) most = Math.max(most, loads[i] + deviations[i] * noise[draw * count + i]);
    sum += most;
  }
  return sum / draws;
}

const BISECTIONS = 14;

/** Loads whose hottest expert is set so that `measure`, the expected maximum, comes to `target`. */
export function hottestFor(
  target: number,
  cap: number,
  measure: (loads: Float64Array) => number,
  loadsAt: (hottest: number) => Float64Array,
): Float64Array {
  let low = 1;
  let high = Math.min(cap, 2 * target);
  for (let i = 0; i < BISECTIONS; i++) {
    const middle = (low + high) / 2;
    if (measure(loadsAt(middle)) < target) low = middle;
    else high = middle;
  }
  return loadsAt((low + high) / 2);
}
