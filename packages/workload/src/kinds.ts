/** The registry of workloads: where tokens come from. A new kind is one file and one line. */
import { loads } from './loads.js';
import { synthetic } from './synthetic.js';
import { trace } from './trace-kind.js';
import type { WorkloadKind } from './workload.js';

export const workloadKinds = { synthetic, loads, trace } as const satisfies Record<string, WorkloadKind>;

export type WorkloadKindName = keyof typeof workloadKinds;

/**
 * The kind that a scenario's workload section means: the key that names a file says so (`loads: table.csv`,
 * `trace: run.epsim-trace`), and without one the scores are synthetic.
 */
export function workloadKindOf(options: Readonly<Record<string, unknown>>): WorkloadKindName {
  for (const name of Object.keys(workloadKinds) as WorkloadKindName[]) if (name in options) return name;
  return 'synthetic';
}
