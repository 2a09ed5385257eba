/**
 * The layers of each pipeline stage, alike ones counted together.
 * One idea: a model of a hundred layers has two or three kinds of them, and time only depends on the kind.
 */
import type { LayerShape, ModelShape } from '@epsim/spec';
import { stageLayers } from './layout.js';

export interface LayerKind {
  /** The first layer of its kind. */
  readonly layer: LayerShape;
  readonly index: number;
  readonly count: number;
}

/** Kinds of layers of every stage, [pipeline]; `mtpLayers` more like the last one stand at the end. */
export function layerKinds(
  model: ModelShape,
  pipeline: number,
  mtpLayers: number,
): readonly (readonly LayerKind[])[] {
  const firstOf = new Map<string, number>();
  const kindOf = model.layers.map((layer, index) => {
    const words = JSON.stringify(layer);
    const first = firstOf.get(words) ?? index;
    firstOf.set(words, first);
    return first;
  });
  return Array.from({ length: pipeline }, (_, stage) => {
    const [first, end] = stageLayers(model.layers.length, pipeline, stage);
    const counts = new Map<number, number>();
    for (const kind of kindOf.slice(first, end)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    const last = kindOf[kindOf.length - 1];
    if (stage === pipeline - 1 && mtpLayers > 0) counts.set(last, (counts.get(last) ?? 0) + mtpLayers);
    return [...counts].map(([index, count]) => ({ layer: model.layers[index], index, count }));
  });
}
