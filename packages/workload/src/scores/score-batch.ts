/**
 * A token batch whose router scores are drawn when they are read: offsets of the layer, what the request's topic
 * adds, and noise of its own for every token and expert. Nothing is stored per token.
 */
import { randomSource, type TokenBatch } from '@epsim/spec';
import { roomFor } from '../workload.js';
import type { LayerScores, TopicOptions } from './layer-scores.js';
import { addNoise, noiseState } from './noise.js';

export interface ScoreBatchPlan {
  readonly seed: number;
  readonly step: number;
  readonly layer: number;
  readonly tokenOffsets: Int32Array;
  readonly scores: LayerScores;
  /** Place in `scores` of each expert, [expertCount]. */
  readonly placeOfExpert: Int32Array;
  readonly topics: TopicOptions;
}

/** Scores are keyed by (seed, step, layer, rank); the topic of a request by all of these but the layer. */
export function scoreBatch(plan: ScoreBatchPlan): TokenBatch {
  const { seed, step, layer, tokenOffsets, scores, placeOfExpert, topics } = plan;
  const expertCount = placeOfExpert.length;
  // Scores before noise by topic, rebuilt for each rank that is read.
  const rows = Array.from(
    { length: topics.strength > 0 ? topics.count : 1 },
    () => new Float32Array(expertCount),
  );
  const byPlace = new Float32Array(expertCount);
  return {
    step,
    layer,
    expertCount,
    tokenOffsets,
    readLogits(rank, out) {
      const tokens = roomFor(tokenOffsets, rank, expertCount, out);
      const requests = randomSource(seed, 'topic of a request', step, rank);
      const noise = noiseState(seed, 'scores', step, layer, rank);
      rows.forEach((row, topic) => {
        byPlace.set(scores.offsets);
        scores.addTo(scores.variantOf(topic, rank), byPlace);
        for (let e = 0; e < expertCount; e++) row[e] = byPlace[placeOfExpert[e]];
      });
      for (let first = 0; first < tokens; first += topics.tokensPerRequest) {
        const row = rows[Math.floor(requests.uniform() * rows.length)];
        const end = Math.min(tokens, first + topics.tokensPerRequest);
        for (let token = first; token < end; token++) addNoise(noise, row, out, token * expertCount);
      }
    },
  };
}
