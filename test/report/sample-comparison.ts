// Three policies on made-up tokens, for charts and tables of comparisons.
import { type Comparison, compareRuns } from '@epsim/results';
import { sampleRun } from './sample-run.js';

/** How fast imbalance falls, and what is kept of plain top-k's score mass. */
const policies = [
  { policy: 'top-k', decay: 0, retained: 1 },
  { policy: 'sign-bias', decay: 0.1, retained: 0.995 },
  { policy: 'quantile', decay: 1, retained: 0.97 },
] as const;

export function sampleComparison(): Comparison {
  const rows = policies.map(({ policy, decay, retained }) => {
    const runs = [1, 2, 3].map((seed) =>
      sampleRun({ ranks: 16, experts: 896, steps: 8, layers: 2 }, { seed, policy, decay, retained }),
    );
    return {
      values: { 'routing.policy': policy },
      summaries: runs.flatMap(({ summary }) => (summary === null ? [] : [summary])),
      records: runs.map(({ records }) => records),
    };
  });
  return compareRuns(['routing.policy'], rows);
}
