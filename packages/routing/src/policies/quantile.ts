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
import { definePolicy, type RouteResult, type Router, type RouterContext } from '../policy.js';
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
): Router {
  const { expertCount, topK } = context;
  const arena = context.arena ?? createRoutingArena();
  const bias = startingBias(context);
  const solver = createSolver(context, arena, estimator);
  const { selector } = solver;
  const chosen = selector.ids.subarray(0, topK);
  const next = new Float64Array(expertCount);
  const workingBias = new Float32Array(expertCount);
  let step = 0;

  /** Moves the bias after the first alternation, whose pass is the routing itself, and returns its drift. */
  function learn(batch: TokenBatch): number {
    solver.finish(batch, next);
    for (let i = 1; i < iterations; i++) {
      workingBias.set(next);
      solver.begin(batch, workingBias);
      forEachRow(context, arena, batch, context.scoring, (scores, offset, row) => {
        selector.select(scores, offset, workingBias);
        solver.add(scores, offset, row);
      });
      solver.finish(batch, next);
    }
    for (let expert = 0; expert < expertCount; expert++) {
      next[expert] = ema * bias[expert] + (1 - ema) * next[expert];
    }
    centre(next);
    return moveBias(bias, next);
  }

  function route(batch: TokenBatch): RouteResult {
    // With topK = expertCount every expert takes every token and no bias can change that.
    const learns =
      topK < expertCount &&
      (freezeAfterSteps === null || step < freezeAfterSteps) &&
      tokenCountOf(context, arena, batch) > 0;
    if (learns) solver.begin(batch, bias);
    const result = routeRows(context, arena, batch, topK, (scores, offset, row, experts, at) => {
      selector.select(scores, offset, bias);
      experts.set(chosen, at);
      if (learns) solver.add(scores, offset, row);
      return 0;
    });
    const biasDrift = learns ? learn(batch) : 0;
    step++;
    return { ...result, stats: { ...result.stats, biasDrift } };
  }

  return { bias, route };
}

/** One alternation: cutoffs of all tokens under a bias, then the bias that those cutoffs ask for. */
function createSolver(context: RouterContext, arena: RoutingArena, estimator: 'histogram' | 'exact') {
  const { expertCount, topK } = context;
  const selector = createSelector(expertCount, Math.min(topK + 1, expertCount));
  const create = estimator === 'exact' ? createExactGaps : createGapHistogram;
  const gaps = create(expertCount, topK / expertCount, (size) => arena.i32('gap counts', size));
  let cutoffs: Float32Array = new Float32Array(0);
  return {
    /** Finds the topK + 1 best experts of a token; `add` takes the last of them as its cutoff. */
    selector,
    begin(batch: TokenBatch, bias: Float32Array): void {
      cutoffs = arena.f32('quantile cutoffs', rowCountOf(batch));
      gaps.begin(bias, scoreCeiling(context, arena, batch));
    },
    /** Adds the token for which the selector has just been called. */
    add(scores: Float32Array, offset: number, row: number): void {
      cutoffs[row] = selector.values[topK];
      gaps.add(scores, offset, cutoffs[row]);
    },
    /** Writes the mean-centred bias into `out`, [expertCount], after as many more passes as the estimator needs. */
    finish(batch: TokenBatch, out: Float64Array): void {
      while (!gaps.endPass(out)) {
        forEachRow(context, arena, batch, context.scoring, (scores, offset, row) => {
          gaps.add(scores, offset, cutoffs[row]);
        });
      }
      centre(out);
    },
  };
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
