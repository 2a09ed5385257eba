/**
 * When to rebalance, and on which statistics: window, interval and staleness.
 * The one idea: before step s, a multiple of the interval, the loads of the `windowSteps` steps that ended
 * `staleSteps` before it are what a real engine would know. The dates of the moves are fixed, so each gets a
 * running sum of its own and no step has to be remembered.
 * Decides when and on what, not what: placing and moving are the caller's.
 */

export interface BalancerOptions {
  /** Steps between placements; 0 never asks for one. */
  readonly everySteps: number;
  /** Steps whose loads are summed. */
  readonly windowSteps: number;
  /** Steps between the end of the window and the step that runs on the new placement. */
  readonly staleSteps: number;
  readonly layerCount: number;
  readonly expertCount: number;
}

export interface Balancer {
  /** Takes the loads of one layer of a step that has run, [expertCount]. */
  observe(step: number, layer: number, loads: ArrayLike<number>): void;
  /**
   * The loads to place layer `layer` by before `step` runs, [expertCount], summed over the window; null when
   * no move is due, or when no step of the window was observed. Valid until the next move is due.
   */
  loadsFor(step: number, layer: number): Float64Array | null;
}

/** Throws RangeError when a count is not a whole number in its range. */
export function createBalancer(options: BalancerOptions): Balancer {
  const { everySteps, windowSteps, staleSteps, layerCount, expertCount } = options;
  checkWhole('everySteps', everySteps, 0);
  checkWhole('windowSteps', windowSteps, 1);
  checkWhole('staleSteps', staleSteps, 0);
  /** Sums of the windows that are open, by the step that they are for, [layerCount x expertCount]. */
  const sums = new Map<number, Float64Array>();
  return {
    observe(step, layer, loads) {
      if (loads.length !== expertCount || !(layer >= 0 && layer < layerCount)) {
        throw new RangeError(
          `observed layer ${layer} with ${loads.length} experts, expected ${layerCount} layers of ${expertCount}`,
        );
      }
      if (everySteps === 0) return;
      for (const past of sums.keys()) if (past <= step - everySteps) sums.delete(past);
      const known = step + staleSteps + 1;
      let due = Math.max(1, Math.ceil(known / everySteps)) * everySteps;
      for (; due < known + windowSteps; due += everySteps) {
        const sum = sums.get(due) ?? new Float64Array(layerCount * expertCount);
        sums.set(due, sum);
        for (let expert = 0; expert < expertCount; expert++)
          sum[layer * expertCount + expert] += loads[expert];
      }
    },
    loadsFor(step, layer) {
      return sums.get(step)?.subarray(layer * expertCount, (layer + 1) * expertCount) ?? null;
    },
  };
}

function checkWhole(name: string, value: number, least: number): void {
  if (!Number.isSafeInteger(value) || value < least) {
    throw new RangeError(`${name} must be a whole number >= ${least}, not ${value}`);
  }
}
