/**
 * Synthetic router scores that look like a real model's: popularity with a skew, tokens of one request that lean
 * the same way, layers that differ, an order of popularity that drifts, ranks with data of their own.
 * One idea: popularity is solved once a layer, by place; everything else chooses who has which place.
 */
import { randomSource, seedFor } from '@epsim/spec';
import { z } from 'zod';
import { presetSchema, presets, type WorkloadPreset } from './presets.js';
import { keeper } from './scores/layer-cache.js';
import { type LayerScores, layerScores } from './scores/layer-scores.js';
import { placesOfExperts } from './scores/order.js';
import { scoreBatch } from './scores/score-batch.js';
import { describeLeanings, noTopics, perRankSchema, topicSchema } from './scores/score-options.js';
import { skewSchema, skews } from './skew/index.js';
import type { Popularity } from './skew/skew.js';
import {
  checkContext,
  checkPlace,
  evenOffsets,
  type WorkloadContext,
  type WorkloadKind,
} from './workload.js';

const optionsSchema = z.strictObject({
  preset: presetSchema
    .optional()
    .describe('fitted to published loads of a real model; other options override'),
  skew: skewSchema.optional().describe('how popularity is spread over experts; log-normal unless said'),
  topics: topicSchema.optional(),
  layerCorrelation: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe('1: the same experts are popular in all layers; 0, the default: unrelated'),
  drift: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe(
      'turn of the order of popularity per step; 0.01: unrelated after 100 steps; 0, the default: fixed',
    ),
  perRank: perRankSchema.optional(),
});

export const synthetic: WorkloadKind = {
  summary: 'seeded router scores with a skew, topics, drift and differences between layers and ranks',
  options: optionsSchema,
  create(context, given) {
    checkContext(context);
    const asked = optionsSchema.parse(given);
    const preset: WorkloadPreset | undefined = asked.preset === undefined ? undefined : presets[asked.preset];
    const skew = asked.skew ?? preset?.skew ?? skewSchema.parse({ kind: 'log-normal' });
    const topics = asked.topics ?? preset?.topics ?? noTopics;
    const order = { layerCorrelation: asked.layerCorrelation ?? 0, drift: asked.drift ?? 0 };
    const perRank = asked.perRank ?? 0;
    const popularityOf = (layer: number): Popularity => {
      const placesOf = (orderTry: number): Int32Array =>
        placesOfExperts(context.seed, 0, layer, context.expertCount, order, orderTry);
      const random = randomSource(context.seed, 'popularity', layer);
      return skews[skew.kind].popularity({ ...context, random, placesOf }, skew);
    };
    // The first layer now, so that a skew that cannot be met says so before any step runs.
    const first = popularityOf(0);
    const kept = keeper<LayerScores>(context.layers);
    const scoresOf = (layer: number): LayerScores =>
      kept(layer, () =>
        layerScores(
          { ...context, seed: seedFor(context.seed, 'layer', layer), layer, topics, perRank },
          layer === 0 ? first : popularityOf(layer),
        ),
      );
    const tokenOffsets = evenOffsets(context.rankCount, context.tokensPerRank);
    return {
      batch(step, layer) {
        checkPlace(step, layer, context.layers);
        const scores = scoresOf(layer);
        const placeOfExpert = placesOfExperts(
          context.seed,
          step,
          layer,
          context.expertCount,
          order,
          scores.orderTry,
        );
        return scoreBatch({ seed: context.seed, step, layer, tokenOffsets, scores, placeOfExpert, topics });
      },
      description: [
        `synthetic router scores, ${skews[skew.kind].describe(skew)}`,
        ...(first.kind === 'loads' && first.fitted !== undefined
          ? [`fitted in layer 0: ${first.fitted}`]
          : []),
        ...(preset === undefined ? [] : presetSentences(preset, context)),
        ...describeLeanings(topics, perRank),
        ...describeOrder(order, context.layers),
      ],
    };
  },
};

function presetSentences(preset: WorkloadPreset, context: WorkloadContext): string[] {
  const sentences = [`popularity fitted to ${preset.source}`];
  if (preset.expertCount !== context.expertCount || preset.topK !== context.topK) {
    sentences.push(
      `the fit is for ${preset.expertCount} experts and top-${preset.topK}; ` +
        `here it is stretched to ${context.expertCount} and top-${context.topK}`,
    );
  }
  return sentences;
}

function describeOrder(order: { layerCorrelation: number; drift: number }, layers: number): string[] {
  const sentences: string[] = [];
  if (layers > 1) sentences.push(`popularity of two layers correlates by ${order.layerCorrelation}`);
  if (order.drift > 0) {
    sentences.push(
      `the order of popularity drifts and is unrelated after ${Math.ceil(1 / order.drift)} steps`,
    );
  }
  return sentences;
}
