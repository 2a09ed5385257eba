/**
 * Quantile balancing: the bias that admits the same number of tokens to every expert.
 * A token's cutoff is its (k+1)-th largest score + bias; cutoff - score is the bias an expert needs to be admitted;
 * the quantile of those at k / E admits exactly a k / E share of the tokens. One pass solves what a step-size rule
 * creeps towards. The new bias is mean-centred and used from the next step.
 * The histogram's bins are as wide as K3's, and in a very skewed layer that shows: with popularities of deviation 1
 * (MaxVio 23 at first) a frozen batch of 16,384 tokens stays at MaxVio 0.11, where `exact` goes below 0.03.
 * Source: Kimi K3 report, section 2.3.3; an alternation is one step of coordinate descent on the dual of the
 * balanced assignment problem.
 */
import type { TokenBatch } from '@epsim/spec';
import { z } from 'zod';
import { createRoutingArena, type RoutingArena } from '../arena.js';
import { centre, moveBias, startingBias } from '../bias.js';
import { createExactGaps } from '../gap-exact.js';
import { createGapHistogram } from '../gap-histogram.js';
import { definePolicy, type RouteResult, type RouterContext } from '../policy.js';
import { forEachRow, routeRows, rowCountOf, tokenCountOf } from '../route-rows.js';
import { createSelector } from '../select.js';

const options = z.strictObject({
  estimator: z
    .enum(['histogram', 'exact'])
    .default('histogram')
    .describe('histogram: 1000 bins per expert, as K3; exact: reads each batch three times'),
  iterations: z
    .int()
    .min(1)
    .max(100)
    .default(1)
    .describe(
      'alternations of cutoffs and biases per step; K3 does 1, each further one reads the batch again',
    ),
  ema: z.number().min(0).lt(1).default(0).describe('share of the old bias that is kept; 0 overwrites, as K3'),
  freezeAfterSteps: z
    .int()
    .min(0)
    .nullable()
    .default(null)
    .describe('steps after which the bias stays as it is, as in inference; 0 keeps the stored bias'),
});

export const quantile = definePolicy({
  summary: 'K3: the bias that admits an equal share of tokens to every expert, solved once per step',
  options,
  create: createQuantileRouter,
});

function createQuantileRouter(
  context: RouterContext,
  { estimator, iterations, ema, freezeAfterSteps }: z.output<typeof options>,
) {
  const { expertCount, topK } = context;
  const arena = context.arena ?? createRoutingArena();
  const bias = startingBias(context);
  const workingBias = new Float32Array(expertCount);
  const next = new Float64Array(expertCount);
  const selector = createSelector(expertCount, Math.min(topK + 1, expertCount));
  const chosen = selector.ids.subarray(0, topK);
  const create = estimator === 'exact' ? createExactGaps : createGapHistogram;
  const gaps = create(expertCount, topK / expertCount, (size) => arena.i32('gap counts', size));
  let step = 0;

  function route(batch: TokenBatch): RouteResult {
    // With topK = expertCount every expert takes every token and no bias can change that.
    const learns =
      topK < expertCount &&
      (freezeAfterSteps === null || step < freezeAfterSteps) &&
      tokenCountOf(context, arena, batch) > 0;
    const cutoffs = arena.f32('quantile cutoffs', rowCountOf(batch));
    const ceiling = learns ? scoreCeiling(context, arena, batch) : 1;
    if (learns) gaps.begin(bias, ceiling);
    const result = routeRows(context, arena, batch, topK, (scores, offset, row, experts, at) => {
      selector.select(scores, offset, bias);
      experts.set(chosen, at);
      if (learns) addToken(scores, offset, row, cutoffs);
      return 0;
    });
    const biasDrift = learns ? learn(batch, cutoffs, ceiling) : 0;
    step++;
    return { ...result, stats: { ...result.stats, biasDrift } };
  }

  function addToken(scores: Float32Array, offset: number, row: number, cutoffs: Float32Array): void {
    cutoffs[row] = selector.values[topK];
    gaps.add(scores, offset, cutoffs[row]);
  }

  function learn(batch: TokenBatch, cutoffs: Float32Array, ceiling: number): number {
    finishPasses(batch, cutoffs);
    for (let i = 1; i < iterations; i++) {
      workingBias.set(next);
      gaps.begin(workingBias, ceiling);
      forEachRow(context, arena, batch, context.scoring, (scores, offset, row) => {
        selector.select(scores, offset, workingBias);
        addToken(scores, offset, row, cutoffs);
      });
      finishPasses(batch, cutoffs);
    }
    for (let expert = 0; expert < expertCount; expert++) {
      next[expert] = ema * bias[expert] + (1 - ema) * next[expert];
    }
    centre(next);
    return moveBias(bias, next);
  }

  function finishPasses(batch: TokenBatch, cutoffs: Float32Array): void {
    while (!gaps.endPass(next)) {
      forEachRow(context, arena, batch, context.scoring, (scores, offset, row) => {
        gaps.add(scores, offset, cutoffs[row]);
      });
    }
    centre(next);
  }

  return { bias, route };
}

/** The largest score that can occur: 1, or the batch's own largest where scores have no bound. */
function scoreCeiling(context: RouterContext, arena: RoutingArena, batch: TokenBatch): number {
  if (context.scoring !== 'sqrt-softplus') return 1;
  let ceiling = 0;
  forEachRow(context, arena, batch, context.scoring, (scores, offset) => {
    for (let i = offset; i < offset + context.expertCount; i++) ceiling = Math.max(ceiling, scores[i]);
  });
  return ceiling > 0 ? ceiling : 1;
}
