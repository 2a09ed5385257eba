/**
 * The auxiliary balancing loss: coefficient x E x sum over experts of (share of choices) x (mean share of score).
 * It is least when both are even. The share of choices counts as a constant, so the gradient pushes down the scores of
 * experts that are chosen too often; unlike a bias, it pulls at the same weights that serve the task.
 * Sources: Switch Transformer, arXiv 2101.03961, equation 4; with sigmoid scores over their sum, DeepSeek-V3.
 */
import { logitOf, type SmallMoe, sigmoid } from './small-moe.js';
import type { StudyBatch } from './teacher.js';

/**
 * The auxiliary loss of the batch under the given choices, [tokens x topK].
 * With `gradients`, its gradient with respect to the router is added.
 */
export function auxLossOf(
  model: SmallMoe,
  batch: StudyBatch,
  choices: Int32Array,
  coefficient: number,
  gradients?: SmallMoe,
): number {
  const { expertCount, width } = model.shape;
  const choiceShare = new Float64Array(expertCount);
  for (const expert of choices) choiceShare[expert] += 1 / choices.length;
  const scores = new Float64Array(expertCount);
  const scale = (coefficient * expertCount) / batch.tokens;
  let loss = 0;
  for (let token = 0; token < batch.tokens; token++) {
    const x = token * width;
    let mass = 0;
    for (let e = 0; e < expertCount; e++) {
      scores[e] = sigmoid(logitOf(model, batch.inputs, token, e));
      mass += scores[e];
    }
    let weighted = 0;
    for (let e = 0; e < expertCount; e++) weighted += (choiceShare[e] * scores[e]) / mass;
    loss += scale * weighted;
    if (!gradients) continue;
    for (let e = 0; e < expertCount; e++) {
      const slope = ((scale * (choiceShare[e] - weighted)) / mass) * scores[e] * (1 - scores[e]);
      for (let d = 0; d < width; d++) gradients.router[e * width + d] += slope * batch.inputs[x + d];
    }
  }
  return loss;
}
