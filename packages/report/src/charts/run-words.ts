/** What charts of a run share: the line that says what is shown, and records by step. */
import type { Run } from '@epsim/results';
import type { StepRecord } from '@epsim/spec';

/** Model, experts and policy of a run; its folder's name when it was interrupted before a summary. */
export function runLine(run: Run): string {
  if (run.summary === null) return 'interrupted run';
  const { model, routing, ranks } = run.summary;
  return `${model.name} · ${model.expertCount} experts, top-${model.topK} · ${ranks.count} ranks · ${routing.policy} routing`;
}

/** Steps that have records, ascending. */
export function stepNumbers(run: Run): number[] {
  return [...new Set(run.records.map((record) => record.step))].sort((a, b) => a - b);
}

export function layersOfStep(run: Run, step: number): StepRecord[] {
  return run.records.filter((record) => record.step === step);
}
