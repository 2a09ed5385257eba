/**
 * Quantile balancing of one batch in plain form: the selection bias that gives every expert the same number
 * of tokens, in one pass.
 *   cutoff of a token: the (k + 1)-th largest of its scores + bias; gap: cutoff - score
 *   bias of an expert: the k / E quantile of its gaps, so that just its share of tokens would admit it; mean zero
 * Source: public implementations of Kimi K3's quantile balancing (report 2.3.3).
 */
import { topKNaive } from '@epsim/tensor';
import { rowCount } from './linear.js';

/** The next bias [experts] from scores [tokens x experts] and the bias that routed them. */
export function quantileBias(scores: Float32Array, bias: Float32Array, topK: number): Float32Array {
  const experts = bias.length;
  const tokens = rowCount(scores, experts);
  const gaps = Array.from({ length: experts }, () => new Float64Array(tokens));
  for (let token = 0; token < tokens; token++) {
    const biased = bias.map((b, expert) => scores[token * experts + expert] + b);
    const cutoff = biased[topKNaive(biased, topK + 1)[topK]];
    gaps.forEach((own, expert) => {
      own[token] = cutoff - scores[token * experts + expert];
    });
  }
  const place = (tokens * topK) / experts - 0.5;
  const next = gaps.map((own) => {
    own.sort();
    const low = Math.min(tokens - 1, Math.max(0, Math.floor(place)));
    const high = Math.min(tokens - 1, low + 1);
    return own[low] + Math.min(1, Math.max(0, place - low)) * (own[high] - own[low]);
  });
  const mean = next.reduce((sum, value) => sum + value, 0) / experts;
  return Float32Array.from(next, (value) => value - mean);
}
