/** A training plan for a terminal: the best layout, where its step goes, the next ones, why others fell out. */
import { formatBytes, formatNs } from '@epsim/spec';
import type { TrainingLayout, TrainingPlan } from '../plan-schema.js';

const MOST_LAYOUTS = 8;

/** Lines of text, no colours. */
export function trainingText(plan: TrainingPlan): string {
  const { model, cluster, request } = plan;
  const { training } = request;
  const fit = plan.layouts.filter(({ feasible }) => feasible);
  const rest = plan.layouts.filter(({ feasible }) => !feasible);
  return [
    `${plan.scenario}: training ${model.name} on ${cluster.ranks} ${cluster.device}, ${training.globalBatchTokens} tokens a step in sequences of ${training.sequenceTokens}, ${training.optimizer}`,
    '',
    ...(fit.length > 0 ? [...best(fit[0]), '', ...fit.slice(0, MOST_LAYOUTS).map(row)] : closest(rest)),
    '',
    ...(fit.length > 0 && rest.length > 0
      ? [`${rest.length} fell out, such as ${rest[0].layout}: ${rest[0].why}`, '']
      : []),
    'Assumed:',
    ...plan.assumptions.map((line) => `  ${line}`),
  ].join('\n');
}

function best(one: TrainingLayout): string[] {
  const { memory, phases } = one;
  return [
    `Best: ${one.layout} on ${one.ranks} ranks, ${one.replicas} times, ${one.microBatches} micro-batches, ${one.overlap}`,
    `      ${formatNs(one.stepNs ?? 0)} a step, ${Math.round(one.tokensPerSecPerRank ?? 0)} tokens/s per rank +- ${Math.round(100 * (one.relErrorBar ?? 0))} %, ${(100 * (one.modelFlopsFraction ?? 0)).toFixed(1)} % of the BF16 peak`,
    `      ${Object.entries(phases ?? {})
      .map(([name, ns]) => `${name} ${formatNs(ns)}`)
      .join(', ')}`,
    `      The bar holds for nine figures of ten; what adds most: ${one.errorFrom}`,
    `      memory ${formatBytes(memory.total)}: weights ${formatBytes(memory.weights)}, gradients ${formatBytes(memory.gradients)}, optimiser ${formatBytes(memory.optimizer)}, activations ${formatBytes(memory.activations)}`,
  ];
}

function row(one: TrainingLayout): string {
  const bubble = `bubble ${(100 * (one.bubbleFraction ?? 0)).toFixed(1)} %`;
  const rate = `${Math.round(one.tokensPerSecPerRank ?? 0)} tokens/s per rank`;
  return `${one.layout.padEnd(24)} ${String(one.replicas).padStart(4)} x  ${rate.padStart(26)}  ${bubble.padStart(13)}  ${formatBytes(one.memoryBytesPerRank)}`;
}

function closest([first]: readonly TrainingLayout[]): string[] {
  if (first === undefined) return ['No layout divides the ranks of the cluster.'];
  return ['No layout can train.', `Closest: ${first.layout} on ${first.ranks} ranks: ${first.why}`];
}
