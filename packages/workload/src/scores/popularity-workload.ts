/**
 * A workload whose popularity is given per expert, layer by layer, from a table or a recording.
 * Popularity belongs to the experts as they are numbered; only topics, ranks and noise are drawn.
 */
import { checkPlace, evenOffsets, type Workload, type WorkloadContext } from '../workload.js';
import { keeper } from './layer-cache.js';
import { type LayerScores, layerScores, type TopicOptions } from './layer-scores.js';
import { scoreBatch } from './score-batch.js';
import { describeLeanings } from './score-options.js';

export interface PopularityPlan {
  readonly topics: TopicOptions;
  readonly perRank: number;
  readonly seed: number;
  /** Loads of a step's layer, [expertCount]; equal keys mean equal loads, which are solved once. */
  loadsOf(step: number, layer: number): { readonly key: number; readonly loads: ArrayLike<number> };
  readonly description: readonly string[];
}

const LAYERS_KEPT = 512;

/** Throws RangeError, from batch() too, where a layer has fewer experts with load than topK. */
export function popularityWorkload(context: WorkloadContext, plan: PopularityPlan): Workload {
  const { seed, topics, perRank } = plan;
  const tokenOffsets = evenOffsets(context.rankCount, context.tokensPerRank);
  const identity = Int32Array.from({ length: context.expertCount }, (_, e) => e);
  const kept = keeper<LayerScores>(LAYERS_KEPT);
  return {
    batch(step, layer) {
      checkPlace(step, layer, context.layers);
      const { key, loads } = plan.loadsOf(step, layer);
      const scores = kept(key, () =>
        layerScores(
          { seed, layer, rankCount: context.rankCount, topK: context.topK, topics, perRank },
          { kind: 'loads', values: Float64Array.from(loads) },
        ),
      );
      return scoreBatch({ seed, step, layer, tokenOffsets, scores, placeOfExpert: identity, topics });
    },
    description: [...plan.description, ...describeLeanings(topics, perRank)],
  };
}
