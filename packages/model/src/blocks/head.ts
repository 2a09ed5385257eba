/**
 * From the last hidden state to the next token: final norm, a score per word, a seeded draw.
 */
import type { RandomSource } from '@epsim/spec';
import { linear, softmaxInPlace } from './linear.js';
import { rmsNorm } from './rms-norm.js';

export interface HeadWeights {
  /** [hidden] */
  readonly norm: Float32Array;
  /** [hidden x vocabulary] */
  readonly words: Float32Array;
}

/** Logits [tokens x vocabulary] of hidden states [tokens x hidden]. */
export function headLogits(x: Float32Array, w: HeadWeights): Float32Array {
  const hidden = w.norm.length;
  return linear(rmsNorm(x, w.norm), w.words, hidden, w.words.length / hidden);
}

/** Softmax of one row of logits at a temperature above 0. */
export function tokenProbabilities(logits: Float32Array, temperature = 1): Float64Array {
  if (!(temperature > 0)) throw new RangeError(`temperature ${temperature} is not above 0`);
  const out = Float64Array.from(logits, (logit) => logit / temperature);
  softmaxInPlace(out);
  return out;
}

/** Index of the largest logit, the lowest of equals. */
export function mostLikely(logits: Float32Array): number {
  let best = 0;
  for (let i = 1; i < logits.length; i++) if (logits[i] > logits[best]) best = i;
  return best;
}

/** Draws a token: the most likely one at temperature 0, else one uniform number against the running sum. */
export function sampleToken(logits: Float32Array, temperature: number, random: RandomSource): number {
  if (temperature === 0) return mostLikely(logits);
  const probabilities = tokenProbabilities(logits, temperature);
  let left = random.uniform();
  for (let token = 0; token < probabilities.length; token++) {
    left -= probabilities[token];
    if (left < 0) return token;
  }
  return mostLikely(logits);
}
