/** The registry of workloads: where tokens come from. A new kind is one file and one line. */
import { loads } from './loads.js';
import { synthetic } from './synthetic.js';
import { trace } from './trace-kind.js';
import type { WorkloadKind } from './workload.js';

export const workloadKinds = { synthetic, loads, trace } as const satisfies Record<string, WorkloadKind>;

export type WorkloadKindName = keyof typeof workloadKinds;
