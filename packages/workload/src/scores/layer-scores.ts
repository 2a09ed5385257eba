/**
 * What a layer's router scores are made of before noise: popularity offsets, what a topic adds, and what a rank's
 * own data adds. Everything is by place in the order of popularity, so that a change of order needs no new
 * solution. Knows nothing of steps.
 */
import { randomSource } from '@epsim/spec';
import type { Popularity } from '../skew/skew.js';
import { chancesFromLoads, type Leanings, offsetsForChances } from './popularity.js';

export interface TopicOptions {
  readonly count: number;
  /** Standard deviation of what a topic adds, in units of the noise. 0 turns topics off. */
  readonly strength: number;
  /** Consecutive tokens of a rank that belong to one request, and so to one topic. */
  readonly tokensPerRequest: number;
}

export interface LayerScores extends Leanings {
  /** The order of the experts to use with it. */
  readonly orderTry: number;
  /** [expertCount] by place. */
  readonly offsets: Float32Array;
  /** Variant of a topic on a rank, as addTo takes it. */
  variantOf(topic: number, rank: number): number;
}

export interface LayerPlan {
  readonly seed: number;
  readonly layer: number;
  readonly rankCount: number;
  readonly topK: number;
  readonly topics: TopicOptions;
  /** Standard deviation of what the data of one rank adds, in units of the noise. */
  readonly perRank: number;
}

/** Scores of one layer. Popularity given as loads is solved for, with topics and ranks taken into account. */
export function layerScores(plan: LayerPlan, popularity: Popularity): LayerScores {
  const expertCount = popularity.values.length;
  const topicCount = plan.topics.strength > 0 ? plan.topics.count : 1;
  const rankRows = plan.perRank > 0 ? plan.rankCount : 1;
  const topics = normalRows(topicCount, expertCount, plan.topics.strength, plan, 'topics');
  const ranks = normalRows(rankRows, expertCount, plan.perRank, plan, 'rank differences');
  const leanings: Leanings = {
    variantCount: topicCount * rankRows,
    addTo(variant, row) {
      const topicStart = (variant % topicCount) * expertCount;
      const rankStart = Math.floor(variant / topicCount) * expertCount;
      for (let i = 0; i < expertCount; i++) row[i] += topics[topicStart + i] + ranks[rankStart + i];
    },
  };
  const offsets =
    popularity.kind === 'offsets'
      ? Float32Array.from(popularity.values)
      : offsetsForChances(chancesFromLoads(popularity.values, plan.topK), plan.topK, leanings, plan.seed);
  return {
    ...leanings,
    orderTry: popularity.kind === 'loads' ? (popularity.orderTry ?? 0) : 0,
    offsets,
    variantOf: (topic, rank) => (topic % topicCount) + topicCount * (rank % rankRows),
  };
}

function normalRows(
  rows: number,
  expertCount: number,
  strength: number,
  plan: LayerPlan,
  purpose: string,
): Float32Array {
  const values = new Float32Array(rows * expertCount);
  if (!(strength > 0)) return values;
  const random = randomSource(plan.seed, purpose, plan.layer);
  for (let i = 0; i < values.length; i++) values[i] = strength * random.normal();
  return values;
}
