/** One scenario run for its numbers alone: planned and timed, nothing carried, nothing written. */
import { activeParamCount, paramCount } from '@epsim/model';
import { recordSchema, type Summary, summarize, summarySchema } from '@epsim/results';
import type { Scenario, StepRecord } from '@epsim/spec';
import { z } from 'zod';
import { Simulation } from './simulate.js';

export interface Measured {
  readonly summary: Summary;
  readonly records: readonly StepRecord[];
}

export interface MeasureOptions {
  readonly readFile: (path: string) => Uint8Array;
  /** What the summary says it was made by. */
  readonly version: string;
  /** Waited for after each record; what it throws ends the run. */
  readonly onRecord?: () => void | Promise<void>;
}

export async function measure(scenario: Scenario, options: MeasureOptions): Promise<Measured> {
  const alone = { ...scenario, carry: null, routing: { ...scenario.routing, baseline: null } };
  const simulation = new Simulation(alone, { readFile: options.readFile });
  const records: StepRecord[] = [];
  for await (const record of simulation.records()) {
    records.push(record);
    await options.onRecord?.();
  }
  const summary = summarize(scenario, records, {
    version: options.version,
    paramCount: paramCount(scenario.model),
    activeParamCount: activeParamCount(scenario.model),
    buffers: simulation.totals.buffers().map(({ quantile, rows }) => ({ quantile, rows })),
    notes: [...simulation.workload.description, ...scenario.model.assumptions],
  });
  return { summary, records };
}

const measuredSchema = z.strictObject({ summary: summarySchema, records: z.array(recordSchema) });

/** What another process measured, from its JSON. Throws for what is no summary with its records. */
export function readMeasured(json: string): Measured {
  return measuredSchema.parse(JSON.parse(json));
}
