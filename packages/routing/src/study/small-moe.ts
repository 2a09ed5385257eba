/**
 * One layer of experts, small enough to train here: a linear router with sigmoid scores, gates that are the chosen
 * scores over their sum, experts W2 silu(W1 x + b1) + b2, mean squared error. Loss and gradients by hand.
 * Which experts a token uses is given: choosing is the router policies' business and has no gradient.
 */
import { randomSource } from '@epsim/spec';
import { normals, type StudyBatch } from './teacher.js';

export interface SmallMoeShape {
  readonly width: number;
  readonly outWidth: number;
  readonly innerSize: number;
  readonly expertCount: number;
  readonly topK: number;
}

/** Views into one flat array, so that an optimiser sees a single vector. */
export interface SmallMoe {
  readonly shape: SmallMoeShape;
  readonly flat: Float64Array;
  /** [expertCount x width] */
  readonly router: Float64Array;
  /** [expertCount x innerSize x width] and [expertCount x innerSize] */
  readonly w1: Float64Array;
  readonly b1: Float64Array;
  /** [expertCount x outWidth x innerSize] and [expertCount x outWidth] */
  readonly w2: Float64Array;
  readonly b2: Float64Array;
}

/** A model with all parameters 0; also the form that gradients take. */
export function zeroMoe(shape: SmallMoeShape): SmallMoe {
  const { expertCount, width, outWidth, innerSize } = shape;
  const sizes = [width, innerSize * width, innerSize, outWidth * innerSize, outWidth];
  const flat = new Float64Array(sizes.reduce((a, b) => a + b, 0) * expertCount);
  let start = 0;
  const [router, w1, b1, w2, b2] = sizes.map((size) => {
    start += size * expertCount;
    return flat.subarray(start - size * expertCount, start);
  });
  return { shape, flat, router, w1, b1, w2, b2 };
}

/** A model at its random start: router 0.02, matrices by one over the root of their inputs, biases 0. */
export function startingMoe(shape: SmallMoeShape, seed: number): SmallMoe {
  const model = zeroMoe(shape);
  const source = randomSource(seed, 'study start');
  model.router.set(normals(source, model.router.length, 0.02));
  model.w1.set(normals(source, model.w1.length, 1 / Math.sqrt(shape.width)));
  model.w2.set(normals(source, model.w2.length, 1 / Math.sqrt(shape.innerSize)));
  return model;
}

/** Router logits of a batch, [tokens x expertCount], written into `out`. */
export function routerLogits(model: SmallMoe, batch: StudyBatch, out: Float32Array): void {
  const { expertCount } = model.shape;
  for (let token = 0; token < batch.tokens; token++) {
    for (let expert = 0; expert < expertCount; expert++) {
      out[token * expertCount + expert] = logitOf(model, batch.inputs, token, expert);
    }
  }
}

/**
 * Mean squared error of the batch under the given choices, [tokens x topK], all of them experts.
 * With `gradients`, a zeroed model, the gradient of the loss is added to it.
 */
export function lossOf(
  model: SmallMoe,
  batch: StudyBatch,
  choices: Int32Array,
  gradients?: SmallMoe,
): number {
  const { topK, outWidth, innerSize } = model.shape;
  const work: Work = {
    chosen: new Int32Array(topK),
    scores: new Float64Array(topK),
    gateSlopes: new Float64Array(topK),
    hidden: new Float64Array(topK * innerSize),
    outputs: new Float64Array(topK * outWidth),
    error: new Float64Array(outWidth),
  };
  let sum = 0;
  for (let token = 0; token < batch.tokens; token++) {
    for (let i = 0; i < topK; i++) work.chosen[i] = choices[token * topK + i];
    sum += forward(model, batch, token, work);
    if (gradients) backward(model, batch, token, work, gradients);
  }
  return sum / (batch.tokens * outWidth);
}

/** One token's pass through its experts. */
interface Work {
  /** Experts of the token, [topK]. */
  readonly chosen: Int32Array;
  /** Scores of the chosen, [topK]; their sum divides the gates. */
  readonly scores: Float64Array;
  /** Slope of the loss at each gate, [topK]. */
  readonly gateSlopes: Float64Array;
  /** Before the activation, [topK x innerSize]. */
  readonly hidden: Float64Array;
  /** Of each chosen expert, [topK x outWidth]. */
  readonly outputs: Float64Array;
  /** Prediction - target, [outWidth]. */
  readonly error: Float64Array;
}

/** Router logit of one token for one expert. */
export function logitOf(model: SmallMoe, inputs: Float64Array, token: number, expert: number): number {
  const { width } = model.shape;
  let logit = 0;
  for (let d = 0; d < width; d++) logit += model.router[expert * width + d] * inputs[token * width + d];
  return logit;
}

export const sigmoid = (z: number) => 1 / (1 + Math.exp(-z));

/** Fills `work` for one token and returns its squared error. */
function forward(model: SmallMoe, batch: StudyBatch, token: number, work: Work): number {
  const { width, outWidth, innerSize } = model.shape;
  const { chosen, scores, hidden, outputs, error } = work;
  let mass = 0;
  for (let i = 0; i < chosen.length; i++) {
    scores[i] = sigmoid(logitOf(model, batch.inputs, token, chosen[i]));
    mass += scores[i];
  }
  for (let o = 0; o < outWidth; o++) error[o] = -batch.targets[token * outWidth + o];
  for (let i = 0; i < chosen.length; i++) {
    const expert = chosen[i];
    for (let h = 0; h < innerSize; h++) {
      const row = (expert * innerSize + h) * width;
      let sum = model.b1[expert * innerSize + h];
      for (let d = 0; d < width; d++) sum += model.w1[row + d] * batch.inputs[token * width + d];
      hidden[i * innerSize + h] = sum;
    }
    for (let o = 0; o < outWidth; o++) {
      const row = (expert * outWidth + o) * innerSize;
      let sum = model.b2[expert * outWidth + o];
      for (let h = 0; h < innerSize; h++) sum += model.w2[row + h] * silu(hidden[i * innerSize + h]);
      outputs[i * outWidth + o] = sum;
      error[o] += (scores[i] / mass) * sum;
    }
  }
  let squared = 0;
  for (let o = 0; o < outWidth; o++) squared += error[o] * error[o];
  return squared;
}

const silu = (z: number) => z * sigmoid(z);

function siluSlope(z: number): number {
  const s = sigmoid(z);
  return s * (1 + z * (1 - s));
}

/** Adds the gradient of one token's share of the mean, whose forward pass `work` holds. */
function backward(model: SmallMoe, batch: StudyBatch, token: number, work: Work, gradients: SmallMoe): void {
  const { width, outWidth } = model.shape;
  const { chosen, scores, gateSlopes, outputs, error } = work;
  const scale = 2 / (batch.tokens * outWidth);
  let mass = 0;
  for (let i = 0; i < chosen.length; i++) mass += scores[i];
  let meanSlope = 0;
  for (let i = 0; i < chosen.length; i++) {
    gateSlopes[i] = 0;
    for (let o = 0; o < outWidth; o++) gateSlopes[i] += scale * error[o] * outputs[i * outWidth + o];
    meanSlope += (scores[i] / mass) * gateSlopes[i];
  }
  for (let i = 0; i < chosen.length; i++) {
    const s = scores[i];
    const logitSlope = ((gateSlopes[i] - meanSlope) / mass) * s * (1 - s);
    for (let d = 0; d < width; d++) {
      gradients.router[chosen[i] * width + d] += logitSlope * batch.inputs[token * width + d];
    }
    backwardExpert(model, batch, token, chosen[i], i, (s / mass) * scale, work, gradients);
  }
}

/** Adds the gradient of one expert's parameters; `scale` times the error is the slope at its output. */
function backwardExpert(
  model: SmallMoe,
  batch: StudyBatch,
  token: number,
  expert: number,
  i: number,
  scale: number,
  { hidden, error }: Work,
  gradients: SmallMoe,
): void {
  const { width, outWidth, innerSize } = model.shape;
  for (let o = 0; o < outWidth; o++) gradients.b2[expert * outWidth + o] += scale * error[o];
  for (let h = 0; h < innerSize; h++) {
    const z = hidden[i * innerSize + h];
    const activated = silu(z);
    let slope = 0;
    for (let o = 0; o < outWidth; o++) {
      const at = (expert * outWidth + o) * innerSize + h;
      slope += scale * error[o] * model.w2[at];
      gradients.w2[at] += scale * error[o] * activated;
    }
    slope *= siluSlope(z);
    const row = expert * innerSize + h;
    gradients.b1[row] += slope;
    for (let d = 0; d < width; d++) gradients.w1[row * width + d] += slope * batch.inputs[token * width + d];
  }
}
