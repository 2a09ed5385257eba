/**
 * What it costs to move experts' weights between two placements of a layer.
 * A blocking move stops the steps until the last weight has arrived. One in the background knows nothing of the
 * steps: it meets their exchanges for as large a share of its time as they use the network, and holds them up for
 * as long as it meets them; what does not fit into idle time at all is waited for.
 */
import type { Moves } from '@epsim/placement';
import type { StepRecord } from '@epsim/spec';
import type { TimedLayer, TimeModel } from './time-layer.js';

/**
 * Slots, bytes and nanoseconds of a move; zero where nothing moved. `weightBytes` is one expert's weights.
 * `steps` is how many steps like `layer` a move in the background may take; 0 blocks.
 */
export function timeMove(
  model: TimeModel,
  moved: Moves | null,
  weightBytes: number,
  layer: TimedLayer,
  steps: number,
): StepRecord['move'] {
  if (!moved || moved.movedSlots === 0) return { slots: 0, bytes: 0, ns: 0 };
  const bytes = Float64Array.from(moved.slotsPerPair, (slots) => slots * weightBytes);
  const { ns } = model.network.transfer(model.topology, bytes);
  return {
    slots: moved.movedSlots,
    bytes: moved.movedSlots * weightBytes,
    ns: steps === 0 ? ns : backgroundNs(ns, layer.stepNs, networkBusyNs(layer), steps),
  };
}

/**
 * What a move of `moveNs` costs beside `steps` steps of `stepNs`, of which exchanges take `busyNs`: its meeting with
 * them, and what is left of it when the idle time is used up. At most what it costs when it blocks.
 */
export function backgroundNs(moveNs: number, stepNs: number, busyNs: number, steps: number): number {
  const busyShare = stepNs === 0 ? 0 : Math.min(1, busyNs / stepNs);
  const beside = Math.min(moveNs, steps * stepNs);
  return beside * busyShare + (moveNs - beside);
}

/** Time of the layer in which the longest-running rank is in an exchange. */
function networkBusyNs(layer: TimedLayer): number {
  let busy = 0;
  for (const span of layer.schedule.spans) {
    if (span.stream !== 'network') continue;
    let longest = 0;
    for (let r = 0; r < span.startNs.length; r++) {
      longest = Math.max(longest, span.endNs[r] - span.startNs[r]);
    }
    busy += longest;
  }
  return busy;
}
