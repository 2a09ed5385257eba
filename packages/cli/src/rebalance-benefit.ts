/** Whether rebalancing pays, told of a comparison that varies how often experts are placed. */
import { netBenefit } from '@epsim/placement';
import type { ComparedRuns, Summary } from '@epsim/results';

const PATH = 'placement.everySteps';

/**
 * A sentence for each row that rebalances, against the row that differs from it in never rebalancing. None when
 * the comparison does not vary placement.everySteps, or has no such row.
 */
export function rebalanceSentences(rows: readonly ComparedRuns[]): string[] {
  return rows.flatMap((row) => {
    const everySteps = Number(row.values[PATH] ?? 0);
    const still = rows.find(({ values }) => values[PATH] === '0' && others(values) === others(row.values));
    if (!(everySteps > 0) || !still) return [];
    const moves = sum(row.summaries, (summary) => summary.moves.steps);
    if (moves === 0) return [`${everySteps}: no move within the steps that were run; run more steps`];
    const moveNs = sum(row.summaries, (summary) => summary.moves.ns) / moves;
    // Before the first move both rows are the same run.
    const before = stepNs(still, everySteps);
    const { sentence } = netBenefit(before, stepNs(row, everySteps), moveNs, everySteps);
    const rest = others(row.values);
    return [rest === '' ? sentence : `${rest}: ${sentence}`];
  });
}

function others(values: ComparedRuns['values']): string {
  return Object.entries(values)
    .filter(([path]) => path !== PATH)
    .map(([path, value]) => `${path}=${value}`)
    .join(' ');
}

/** Mean time of the steps from `firstStep` on, over all seeds. */
function stepNs({ records = [] }: ComparedRuns, firstStep: number): number {
  let ns = 0;
  const steps = new Set<string>();
  records.forEach((run, seed) => {
    for (const { step, timed } of run) {
      if (step < firstStep) continue;
      steps.add(`${seed} ${step}`);
      ns += timed?.stepNs ?? 0;
    }
  });
  return ns / steps.size;
}

function sum(summaries: readonly Summary[], pick: (summary: Summary) => number): number {
  return summaries.reduce((total, summary) => total + pick(summary), 0);
}
