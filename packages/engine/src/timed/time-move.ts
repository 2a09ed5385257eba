/**
 * What it costs to move experts' weights between two placements of a layer.
 * A blocking move stops the steps until the last weight has arrived. One in the background uses the network
 * while the steps leave it idle, and costs only what does not fit there.
 */
import type { Moves } from '@epsim/placement';
import type { StepRecord } from '@epsim/spec';
import type { TimedLayer, TimeModel } from './time-layer.js';

/**
 * Slots, bytes and nanoseconds of a move; zero where nothing moved. `weightBytes` is one expert's weights.
 * `idleSteps` is for how many steps like `layer` the move may use the network while it is idle; 0 blocks.
 */
export function timeMove(
  model: TimeModel,
  moved: Moves | null,
  weightBytes: number,
  layer: TimedLayer,
  idleSteps: number,
): StepRecord['move'] {
  if (!moved || moved.movedSlots === 0) return { slots: 0, bytes: 0, ns: 0 };
  const bytes = Float64Array.from(moved.slotsPerPair, (slots) => slots * weightBytes);
  const { ns } = model.network.transfer(model.topology, bytes);
  return {
    slots: moved.movedSlots,
    bytes: moved.movedSlots * weightBytes,
    ns: Math.max(0, ns - idleSteps * networkIdleNs(layer)),
  };
}

/** Time of the layer in which no rank is in an exchange. */
function networkIdleNs(layer: TimedLayer): number {
  let busy = 0;
  for (const span of layer.schedule.spans) {
    if (span.stream !== 'network') continue;
    let longest = 0;
    for (let r = 0; r < span.startNs.length; r++)
      longest = Math.max(longest, span.endNs[r] - span.startNs[r]);
    busy += longest;
  }
  return Math.max(0, layer.stepNs - busy);
}
