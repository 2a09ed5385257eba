/** What charts of a run share: the line that says what is shown. */
import type { Run } from '@epsim/results';

/** Model, experts and policy of a run; its folder's name when it was interrupted before a summary. */
export function runLine(run: Run): string {
  if (run.summary === null) return 'interrupted run';
  const { model, routing, ranks } = run.summary;
  return `${model.name} · ${model.expertCount} experts, top-${model.topK} · ${ranks.count} ranks · ${routing.policy} routing`;
}
