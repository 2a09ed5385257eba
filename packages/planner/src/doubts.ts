/**
 * Objectives that a plan meets by less than its error bar.
 * One idea: who buys accelerators on a figure should hear when the figure decides nothing.
 */
import { formatNs } from '@epsim/spec';
import type { FigureBars } from './errors/plan-errors.js';
import { longestTpotNs } from './objectives.js';
import type { Pools } from './pools.js';
import type { Evaluated } from './search.js';

/** A sentence for each time that is within its limit, but not with its error bar. */
export function doubtfulObjectives(
  { ttftNs, decode, load }: Evaluated,
  bars: FigureBars,
  { plan }: Pools,
): readonly string[] {
  const tpotNs = load?.tpotNs.asked ?? decode.tpotNs;
  const held = [
    { name: 'TTFT', ns: ttftNs, bar: bars.ttftNs, limit: plan.objectives.ttftNs },
    { name: 'TPOT', ns: tpotNs, bar: bars.tpotNs, limit: longestTpotNs(plan) },
  ];
  return held.flatMap(({ name, ns, bar, limit }) => {
    if (limit === null || !Number.isFinite(limit) || ns * (1 + bar) <= limit) return [];
    const safe = formatNs(limit / (1 + bar));
    return `${name} of ${formatNs(ns)} may be ${formatNs(ns * (1 + bar))}, above its ${formatNs(limit)}: an objective of ${safe} leaves room for the error bar`;
  });
}
