/**
 * The error bars of a planned layout's figures.
 * One idea: a figure is as certain as the steps it is made of; what both pools make is as certain as both, by ranks.
 */
import { overlaps } from '@epsim/engine';
import type { Scenario } from '@epsim/spec';
import { layoutRanks } from '../layout.js';
import type { DecodePool, PrefillPool } from '../pools.js';
import type { Evaluated } from '../search.js';
import type { StepPhase } from '../stages.js';
import { type ErrorBar, errorBarOf, joinedBar } from './error-bar.js';
import { createPartErrors } from './part-errors.js';

/** Fractions of the figures that nine of ten published ones would lie within. */
export interface FigureBars {
  readonly ttftNs: number;
  readonly tpotNs: number;
  readonly tokensPerSecPerUser: number;
  readonly tokensPerSecPerRank: number;
  readonly costPerMillionTokens: number;
  readonly rankHoursPerMillionTokens: number;
}

export interface PlanErrors {
  readonly bars: FigureBars;
  /** Of the time between tokens, of the time to the first, and of throughput and price, which both make. */
  readonly decode: ErrorBar;
  readonly prefill: ErrorBar;
  readonly both: ErrorBar;
}

export interface FindErrors {
  (one: Evaluated): PlanErrors;
  readonly decode: (pool: DecodePool) => ErrorBar;
  readonly prefill: (pool: PrefillPool) => ErrorBar;
}

export function createPlanErrors(scenario: Scenario): FindErrors {
  const partErrors = createPartErrors(scenario);
  const drafted = 1 + (scenario.plan?.engine.mtpLayers ?? 0);
  const barOf = (
    { layout, overlap, step }: DecodePool | PrefillPool,
    groupTokens: number,
    phase: StepPhase,
  ) => {
    const tokens = (groupTokens * layout.attentionData) / overlaps[overlap].microBatches;
    return errorBarOf(step.parts, partErrors(layout, tokens, phase));
  };
  const decode = (pool: DecodePool) =>
    barOf(pool, (pool.sequences * drafted) / pool.layout.pipeline, 'decode');
  const prefill = (pool: PrefillPool) => barOf(pool, pool.chunkTokens, 'prefill');
  return Object.assign(
    (one: Evaluated): PlanErrors => {
      const step = decode(one.decode);
      const together = 'prefill' in one.decode;
      const chunk = prefill('prefill' in one.decode ? one.decode.prefill : (one.prefill as PrefillPool));
      const both = joinedBar(step, chunk, promptShare(one));
      // Where one pool does both, prompts are computed between the tokens of others.
      const tpot = together ? both : step;
      return { bars: barsOf(chunk, tpot, both), decode: tpot, prefill: chunk, both };
    },
    { decode, prefill },
  );
}

/** Share of ranks that compute prompts, or of time where the same ranks decode. */
function promptShare({ decode, prefill }: Evaluated): number {
  if ('prefill' in decode) return decode.requestsPerSec / decode.prefill.requestsPerSec;
  if (prefill === null) return 0;
  const ranks = (layoutRanks(prefill.layout) * decode.requestsPerSec) / prefill.requestsPerSec;
  return ranks / (ranks + layoutRanks(decode.layout));
}

function barsOf(prefill: ErrorBar, decode: ErrorBar, both: ErrorBar): FigureBars {
  return {
    ttftNs: prefill.nineTenths,
    ...{ tpotNs: decode.nineTenths, tokensPerSecPerUser: decode.nineTenths },
    ...{ tokensPerSecPerRank: both.nineTenths, costPerMillionTokens: both.nineTenths },
    rankHoursPerMillionTokens: both.nineTenths,
  };
}

/** "attention, 49 % of the step, +- 36 %: roofline ..." */
export function dominantText({ dominant }: ErrorBar): string {
  const { part, share, relError, source } = dominant;
  return `${part}, ${Math.round(100 * share)} % of the step at +- ${Math.round(100 * relError)} % (${source})`;
}
