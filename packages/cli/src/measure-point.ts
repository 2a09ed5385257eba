/** One scenario run for its numbers alone: planned and timed, nothing carried, nothing written. */

import { setImmediate as eventLoopTurn } from 'node:timers/promises';
import { Simulation } from '@epsim/engine';
import { activeParamCount, paramCount } from '@epsim/model';
import { type Summary, summarize } from '@epsim/results';
import type { Scenario, StepRecord } from '@epsim/spec';
import { Interrupted } from './failure.js';
import { version } from './version.js';

export interface Measured {
  readonly summary: Summary;
  readonly records: readonly StepRecord[];
}

export async function measurePoint(
  scenario: Scenario,
  readFile: (path: string) => Uint8Array,
  signal: AbortSignal,
  onRecord: () => void = () => {},
): Promise<Measured> {
  const alone = { ...scenario, carry: null, routing: { ...scenario.routing, baseline: null } };
  const simulation = new Simulation(alone, { readFile });
  const records: StepRecord[] = [];
  for await (const record of simulation.records()) {
    records.push(record);
    onRecord();
    await eventLoopTurn();
    if (signal.aborted) throw new Interrupted('interrupted');
  }
  const summary = summarize(scenario, records, {
    version,
    paramCount: paramCount(scenario.model),
    activeParamCount: activeParamCount(scenario.model),
    buffers: simulation.totals.buffers().map(({ quantile, rows }) => ({ quantile, rows })),
    notes: [...simulation.workload.description, ...scenario.model.assumptions],
  });
  return { summary, records };
}
