/**
 * The training study: the same small mixture of experts, the same tokens, under four ways to balance it.
 * It measures whether plain top-k starves experts and what balancing costs in loss. One layer of regression on made-up
 * kinds of tokens shows the direction of an effect; it does not show its size in a language model.
 */
import { z } from 'zod';
import { maxVioOf } from '../measures.js';
import type { Router, RouterContext } from '../policy.js';
import { routingPolicies } from '../registry.js';
import { countLoads } from '../route-rows.js';
import { createAdam } from './adam.js';
import { auxLossOf } from './aux-loss.js';
import { lossOf, routerLogits, type SmallMoe, startingMoe, zeroMoe } from './small-moe.js';
import { createTeacher, type StudyBatch } from './teacher.js';

/** What is compared: a routing policy, or top-k with the auxiliary loss added to the task's. */
export const studyMethods = ['top-k', 'aux-loss', 'sign-bias', 'quantile'] as const;
export type StudyMethod = (typeof studyMethods)[number];

export const studyOptions = z.strictObject({
  seed: z.int().default(1),
  steps: z.int().min(1).default(600),
  batchTokens: z.int().min(1).default(512),
  heldOutTokens: z.int().min(1).default(4096),
  width: z.int().min(1).default(16),
  outWidth: z.int().min(1).default(8),
  innerSize: z.int().min(1).default(16),
  expertCount: z.int().min(2).default(32),
  topK: z.int().min(1).default(2),
  kinds: z.int().min(1).default(32).describe('kinds of tokens, each with a function of its own'),
  kindSkew: z.number().min(0).default(0.7).describe('kind i is as common as (i + 1)^-kindSkew'),
  learningRate: z.number().positive().default(3e-3),
  auxCoefficient: z.number().min(0).default(1e-2),
  signStepSize: z.number().positive().default(1e-3),
});
export type StudyOptions = z.output<typeof studyOptions>;

export interface StudyCurve {
  readonly method: StudyMethod;
  /** Task loss (mean squared error, auxiliary loss apart) of each step's batch before its update, [steps]. */
  readonly loss: Float64Array;
  /** MaxVio of each step's loads, [steps]. */
  readonly maxVio: Float64Array;
  /** Experts that no token of the step's batch used, [steps]. */
  readonly starvedExperts: Int32Array;
  /** On tokens that were not trained on, with the bias that training ended with. */
  readonly heldOut: { readonly loss: number; readonly maxVio: number; readonly starvedExperts: number };
}

/**
 * Trains one model and returns its curves. Start, tokens and order depend on the seed alone, so methods are paired.
 * Throws RangeError when topK exceeds expertCount.
 */
export function trainUnder(method: StudyMethod, options: StudyOptions): StudyCurve {
  const teacher = createTeacher(options);
  const model = startingMoe(options, options.seed);
  const gradients = zeroMoe(options);
  const adam = createAdam(model.flat.length, options.learningRate);
  const router = routerFor(method, options);
  const loss = new Float64Array(options.steps);
  const maxVio = new Float64Array(options.steps);
  const starvedExperts = new Int32Array(options.steps);
  for (let step = 0; step < options.steps; step++) {
    const batch = teacher.batch(step, options.batchTokens);
    const routed = routeBatch(router, model, batch, step);
    gradients.flat.fill(0);
    loss[step] = lossOf(model, batch, routed.choices, gradients);
    if (method === 'aux-loss') auxLossOf(model, batch, routed.choices, options.auxCoefficient, gradients);
    adam(model.flat, gradients.flat);
    maxVio[step] = routed.maxVio;
    starvedExperts[step] = routed.starvedExperts;
  }
  return { method, loss, maxVio, starvedExperts, heldOut: heldOutOf(router, model, options) };
}

function heldOutOf(router: Router, model: SmallMoe, options: StudyOptions): StudyCurve['heldOut'] {
  const batch = createTeacher(options).batch('held out', options.heldOutTokens);
  const { choices, maxVio, starvedExperts } = routeBatch(router, model, batch, options.steps);
  return { loss: lossOf(model, batch, choices), maxVio, starvedExperts };
}

function routerFor(method: StudyMethod, options: StudyOptions): Router {
  const context: RouterContext = {
    expertCount: options.expertCount,
    topK: options.topK,
    scoring: 'sigmoid',
    renormalize: true,
    routedScaling: 1,
    groupCount: 1,
    topGroupCount: 1,
    rankCount: 1,
    seed: options.seed,
    layer: 0,
  };
  if (method === 'sign-bias')
    return routingPolicies[method].create(context, { stepSize: options.signStepSize });
  return routingPolicies[method === 'aux-loss' ? 'top-k' : method].create(context, {});
}

/** Routes a batch as the simulator does, by the model's own logits. Choices are valid until the next call. */
function routeBatch(router: Router, model: SmallMoe, batch: StudyBatch, step: number) {
  const { expertCount } = model.shape;
  const { routing } = router.route({
    step,
    layer: 0,
    expertCount,
    tokenOffsets: Int32Array.of(0, batch.tokens),
    readLogits: (_rank, out) => routerLogits(model, batch, out),
  });
  const loads = countLoads(routing, new Int32Array(expertCount));
  return {
    choices: routing.experts,
    maxVio: maxVioOf(loads),
    starvedExperts: loads.filter((load) => load === 0).length,
  };
}
