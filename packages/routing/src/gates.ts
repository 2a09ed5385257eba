/**
 * Gate weights of the chosen experts, from unbiased scores.
 * K3 and DeepSeek-V3: w_i = s_i / (sum of chosen s + 1e-20) x routedScaling; without renormalising, s_i x routedScaling.
 */
import { NO_EXPERT } from '@epsim/spec';
import type { RouterContext } from './policy.js';

const EPSILON = 1e-20;

/**
 * Writes the weights of one row, [width] at `at`, 0 where there is no expert.
 * `droppedMass` is the score of choices that were wanted and refused: it stays in the denominator, so that
 * a drop makes a row's output smaller and not its other experts louder.
 */
export function gateRow(
  context: RouterContext,
  scores: Float32Array,
  offset: number,
  experts: Int32Array,
  at: number,
  width: number,
  droppedMass: number,
  weights: Float32Array,
): void {
  const renormalize = context.renormalize || context.scoring === 'softmax-over-top-k';
  let mass = droppedMass + EPSILON;
  for (let i = at; i < at + width; i++) {
    if (experts[i] !== NO_EXPERT) mass += scores[offset + experts[i]];
  }
  const scale = context.routedScaling / (renormalize ? mass : 1);
  for (let i = at; i < at + width; i++) {
    weights[i] = experts[i] === NO_EXPERT ? 0 : scores[offset + experts[i]] * scale;
  }
}
