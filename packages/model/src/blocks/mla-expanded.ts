/**
 * Latent attention as it is written down: every head's keys and values formed in full, ordinary causal softmax.
 * The second formulation that gated-mla.ts is held against, and the cache that it saves: heads * (query + value)
 * floats per token here, [kvRank + rope] there.
 */
import { type MlaShape, type MlaWeights, mlaLatents, mlaOutput, mlaQueries } from './gated-mla.js';
import { linear, rowCount, softmaxInPlace } from './linear.js';

/** Keys [tokens x heads x (nope + rope)] and values [tokens x heads x valueDim] of kept rows. */
function expand(
  rows: Float32Array,
  shape: MlaShape,
  w: MlaWeights,
): { keys: Float32Array; values: Float32Array } {
  const { headCount, nopeHeadDim: nope, ropeHeadDim: rope, kvLoraRank: rank, valueHeadDim } = shape;
  const tokens = rows.length / (rank + rope);
  const latents = Float32Array.from(
    { length: tokens * rank },
    (_, i) => rows[Math.floor(i / rank) * (rank + rope) + (i % rank)],
  );
  const perHead = linear(latents, w.keyUp, rank, headCount * nope);
  const keys = new Float32Array(tokens * headCount * (nope + rope));
  for (let t = 0; t < tokens; t++) {
    for (let head = 0; head < headCount; head++) {
      const to = (t * headCount + head) * (nope + rope);
      keys.set(perHead.subarray((t * headCount + head) * nope, (t * headCount + head + 1) * nope), to);
      keys.set(rows.subarray(t * (rank + rope) + rank, (t + 1) * (rank + rope)), to + nope);
    }
  }
  return { keys, values: linear(latents, w.valueUp, rank, headCount * valueHeadDim) };
}

/** Gated latent attention over a whole sequence from its start, x [tokens x hidden]; returns [tokens x hidden]. */
export function mlaExpanded(x: Float32Array, hidden: number, shape: MlaShape, w: MlaWeights): Float32Array {
  const { headCount, nopeHeadDim, ropeHeadDim, valueHeadDim } = shape;
  const dim = nopeHeadDim + ropeHeadDim;
  const tokens = rowCount(x, hidden);
  const queries = mlaQueries(x, hidden, shape, w);
  const { keys, values } = expand(mlaLatents(x, hidden, shape, w), shape, w);
  const read = new Float32Array(tokens * headCount * valueHeadDim);
  for (let token = 0; token < tokens; token++) {
    for (let head = 0; head < headCount; head++) {
      const scores = new Float64Array(token + 1);
      for (let t = 0; t <= token; t++) {
        for (let d = 0; d < dim; d++) {
          scores[t] += queries[(token * headCount + head) * dim + d] * keys[(t * headCount + head) * dim + d];
        }
        scores[t] /= Math.sqrt(dim);
      }
      softmaxInPlace(scores);
      for (let d = 0; d < valueHeadDim; d++) {
        let sum = 0;
        for (let t = 0; t <= token; t++) sum += scores[t] * values[(t * headCount + head) * valueHeadDim + d];
        read[(token * headCount + head) * valueHeadDim + d] = sum;
      }
    }
  }
  return mlaOutput(read, x, hidden, shape, w);
}
