/**
 * Which expert is how popular: an order of the experts for each layer and step.
 * One idea: every expert has a normal rank score, part of it shared by all layers, part of it turning with the
 * steps; sorting the scores gives the order. The spread of popularity itself never changes.
 */
import { type RandomSource, randomSource } from '@epsim/spec';

export interface OrderOptions {
  /** Correlation of the scores of two layers, 0 (unrelated) to 1 (the same order). */
  readonly layerCorrelation: number;
  /** Turn per step: after 1 / drift steps the order is unrelated to the first. 0 keeps it for ever. */
  readonly drift: number;
}

/**
 * Place of each expert in the order of popularity of a layer at a step, [expertCount]; 0 is the most popular.
 * What all layers share is the same for every `orderTry`; the rest is drawn anew.
 */
export function placesOfExperts(
  seed: number,
  step: number,
  layer: number,
  expertCount: number,
  options: OrderOptions,
  orderTry: number,
): Int32Array {
  const turned = step * options.drift;
  const epoch = Math.floor(turned);
  const shared = (at: number) => randomSource(seed, 'popularity order of all layers', at);
  const own = (at: number) => randomSource(seed, 'popularity order', at, layer, orderTry);
  const angle = (turned - epoch) * (Math.PI / 2);
  const scores = new Float64Array(expertCount);
  addScores(scores, Math.cos(angle), options.layerCorrelation, shared(epoch), own(epoch));
  if (angle > 0)
    addScores(scores, Math.sin(angle), options.layerCorrelation, shared(epoch + 1), own(epoch + 1));
  const experts = Int32Array.from({ length: expertCount }, (_, e) => e);
  experts.sort((a, b) => scores[b] - scores[a] || a - b);
  const places = new Int32Array(expertCount);
  for (let place = 0; place < expertCount; place++) places[experts[place]] = place;
  return places;
}

function addScores(
  scores: Float64Array,
  weight: number,
  layerCorrelation: number,
  shared: RandomSource,
  own: RandomSource,
): void {
  const sharedWeight = weight * Math.sqrt(layerCorrelation);
  const ownWeight = weight * Math.sqrt(1 - layerCorrelation);
  for (let e = 0; e < scores.length; e++) {
    scores[e] += sharedWeight * shared.normal() + ownWeight * own.normal();
  }
}
