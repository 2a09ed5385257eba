/**
 * From a scenario to what the search works on: its step times, its memory and what it may try.
 */
import { dispatchOptions } from '@epsim/engine';
import type { PlanRequest, Scenario } from '@epsim/spec';
import type { OverlapName } from './layer-schedule.js';
import { createMemoryModel } from './memory.js';
import { createPools } from './pools.js';
import type { Search } from './search.js';
import type { StepModel } from './step-time.js';

/** A scenario's `plan`, or a RangeError that says what to write where it has none. */
export function requestOf({ plan }: Scenario): PlanRequest {
  if (plan === null) {
    throw new RangeError(
      'plan: missing field; write plan: { requests: { inputTokens: 4000, outputTokens: 1000 } }',
    );
  }
  return plan;
}

/** The overlap that the scenario names, or those that engines have where it names none. */
export function overlapsOf({ time }: Scenario): readonly OverlapName[] {
  return time.overlap === null ? ['shared-experts', 'two-micro-batches'] : [time.overlap as OverlapName];
}

/** What the search needs of a scenario, whose steps take as long as `step` says. */
export function searchOf(scenario: Scenario, step: StepModel, onProgress?: Search['onProgress']): Search {
  const request = requestOf(scenario);
  const { engine } = request;
  const { dispatchRowBytes, combineRowBytes, kind } = dispatchOptions(scenario);
  const memory = createMemoryModel(scenario.model, {
    cacheFormat: engine.cacheFormat,
    windows: engine.windows,
    mtpLayers: engine.mtpLayers,
    reserveBytes: engine.reserveBytes,
    dispatchKind: kind,
    ...{ dispatchRowBytes, combineRowBytes },
  });
  return {
    step,
    pools: createPools(step, memory, request),
    overlaps: overlapsOf(scenario),
    counter: { timed: 0 },
    servings: engine.serving === 'either' ? ['split', 'together'] : [engine.serving],
    onProgress,
  };
}
