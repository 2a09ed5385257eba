/**
 * The timed half of a summary: phase times of layers to the time of a step, with the source of every figure.
 * One idea: an error bar speaks only for the phases it was measured on, so the share of time that nobody
 * has scored stands beside it instead of being counted as exact.
 */
import type { Estimate, Provenance, StepRecord } from '@epsim/spec';
import type { Summary } from './summary.js';

type Times = NonNullable<Summary['timed']>;

/** From the surest to the least sure; a phase with several is as sure as its least. */
const provenances: readonly Provenance[] = ['measured', 'fitted', 'derived'];

/** Times of a step, [steps][layers] in, or null when any layer has none. */
export function summarizeTimes(
  steps: readonly (readonly StepRecord[])[],
  rankCount: number,
): Summary['timed'] {
  const timed = steps.flat().map((record) => record.timed);
  const layers = timed.filter((times) => times !== null);
  if (layers.length < timed.length) return null;
  let stepNs = 0;
  let idle = 0;
  const estimates = new Map<string, Estimate[]>();
  for (const layer of layers) {
    stepNs += layer.stepNs / steps.length;
    idle += layer.stragglerIdleFraction / layers.length;
    for (const [phase, estimate] of Object.entries(layer.phases)) {
      const known = estimates.get(phase);
      if (known === undefined) estimates.set(phase, [estimate]);
      else known.push(estimate);
    }
  }
  const tokens = steps.reduce((sum, step) => sum + Math.max(...step.map((record) => record.tokens)), 0);
  return {
    stepNs,
    tokensPerSecPerRank: stepNs === 0 ? 0 : tokens / steps.length / rankCount / (stepNs * 1e-9),
    phases: Object.fromEntries([...estimates].map(([phase, parts]) => [phase, sumNs(parts) / steps.length])),
    stragglerIdleFraction: idle,
    sources: Object.fromEntries([...estimates].map(([phase, parts]) => [phase, sourceOf(parts)])),
    ...errorBar([...estimates.values()].flat()),
  };
}

function sourceOf(parts: readonly Estimate[]): Times['sources'][string] {
  const rank = parts.reduce((least, part) => Math.max(least, provenances.indexOf(part.provenance)), 0);
  const scored = parts.filter((part) => part.relErrorBar !== null);
  return {
    provenance: provenances[rank],
    source: [...new Set(parts.map((part) => part.source))].join('; '),
    relErrorBar: scored.length < parts.length ? null : weightedBar(scored),
  };
}

function errorBar(parts: readonly Estimate[]): Pick<Times, 'relErrorBar' | 'unscoredFraction'> {
  const scored = parts.filter((part) => part.relErrorBar !== null);
  const all = sumNs(parts);
  return {
    relErrorBar: scored.length === 0 ? null : weightedBar(scored),
    unscoredFraction: all === 0 ? 0 : 1 - sumNs(scored) / all,
  };
}

/** Errors of one model lean the same way, so bars add up in proportion to time instead of cancelling. */
function weightedBar(parts: readonly Estimate[]): number {
  const all = sumNs(parts);
  if (all === 0) return 0;
  return parts.reduce((sum, part) => sum + (part.relErrorBar ?? 0) * part.ns, 0) / all;
}

function sumNs(parts: readonly Estimate[]): number {
  return parts.reduce((sum, part) => sum + part.ns, 0);
}
