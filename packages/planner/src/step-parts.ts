/**
 * What the ranks of one stage do in one layer, apart from routed experts and exchanges: mixers, router,
 * projections, shared experts, dense networks, and the collectives of tensor parallelism.
 * One idea: every duration is the accelerator model's, on the slice of the layer that a rank has.
 */
import {
  attentionParts,
  type DeviceProfile,
  denseLayerParts,
  elementWork,
  matrixWork,
  rooflineNs,
} from '@epsim/model';
import type { ClusterSpec, LayerShape, ModelShape, Precision } from '@epsim/spec';
import { sliceOf } from './slice.js';

/** A step of one attention group. */
export interface StepWork {
  /** Sequences of the group in one micro-batch of the step; a fraction where a prompt is computed in chunks. */
  readonly sequences: number;
  /** New tokens of each sequence. */
  readonly newTokens: number;
  /** Tokens of each sequence after the step. */
  readonly contextTokens: number;
  readonly cacheBytes: number;
  /** Tokens of the group whose logits are computed. */
  readonly logitRows: number;
}

/** Nanoseconds of one layer on a rank, exchanges and routed experts apart. */
export interface LocalParts {
  readonly attention: number;
  /** Norms, residual mixing, router, latent projections, dense networks. */
  readonly before: number;
  readonly after: number;
  readonly shared: number;
}

const ACTIVATION_BYTES = 2;

export interface LocalModel {
  /** One layer of `kind` for a group of `ways` ranks. */
  layer(layer: LayerShape, ways: number, work: StepWork): LocalParts;
  /** The projection onto the vocabulary. */
  head(ways: number, rows: number): number;
}

/** Durations on one device; those of equal questions are kept. */
export function createLocalModel(
  model: ModelShape,
  { device }: ClusterSpec,
  profile: DeviceProfile,
): LocalModel {
  const kept = new Map<string, number>();
  const once = (key: string, find: () => number): number => {
    const known = kept.get(key) ?? find();
    kept.set(key, known);
    return known;
  };
  const kindIds = new Map<unknown, number>();
  const idOf = (shape: unknown): number => {
    const id = kindIds.get(shape) ?? kindIds.size;
    kindIds.set(shape, id);
    return id;
  };
  const format = (precision: Precision) => (precision.bits > 8 ? 'bf16' : 'fp8');
  const plainNs = (rows: number, elementsIn: number, elementsOut: number) =>
    rows === 0 ? 0 : rooflineNs(elementWork(rows, elementsIn, elementsOut), device, profile.dense);
  const matrixNs = (rows: number, elements: number, precision: Precision, rowElements: number) =>
    rows === 0
      ? 0
      : rooflineNs(
          matrixWork(rows, elements, precision, rowElements),
          device,
          profile.dense,
          format(precision),
        );
  const attentionNs = (attention: LayerShape['attention'], ways: number, work: StepWork): number => {
    if (attention === null || work.sequences === 0) return 0;
    const key = `a${idOf(attention)} ${ways} ${work.sequences} ${work.newTokens} ${work.contextTokens} ${work.cacheBytes}`;
    return once(key, () => {
      const parts = attentionParts(model, device, sliceOf(attention, ways), work, profile);
      return parts.projections.ns + parts.core.ns;
    });
  };
  const denseOf = (ways: number, rows: number, part: 'before' | 'after' | 'shared'): number =>
    once(`m${ways} ${rows} ${part}`, () => {
      const { moe } = model;
      const cut = { ...model, moe: { ...moe, sharedInnerSize: moe.sharedInnerSize / ways } };
      const parts = denseLayerParts(cut, device, rows, profile);
      if (part === 'shared') return parts.sharedExperts.ns;
      return part === 'before'
        ? parts.router.ns + parts.downProjection.ns + parts.norms.ns
        : parts.upProjection.ns;
    });
  const residualNs = (rows: number): number => {
    if (model.attnResBlockLayers === null) return plainNs(rows, model.hiddenSize, model.hiddenSize);
    const sources = Math.ceil(model.layers.length / model.attnResBlockLayers) / 2 + 1;
    return plainNs(rows, sources * model.hiddenSize, model.hiddenSize);
  };
  const layerParts = ({ attention, ffn }: LayerShape, ways: number, work: StepWork): LocalParts => {
    const tokens = work.sequences * work.newTokens;
    // After the mixer each rank of the group has its part of the tokens, until the next mixer gathers them.
    const rows = tokens / ways;
    const mixers = attention === null ? 0 : 1;
    const residual = once(`r${rows}`, () => residualNs(rows));
    const common = { attention: attentionNs(attention, ways, work) };
    if (ffn === null) return { ...common, before: mixers * residual, after: 0, shared: 0 };
    if (ffn.kind === 'dense') {
      const matrices = model.moe.gated ? 3 : 2;
      const elements = (matrices * model.hiddenSize * ffn.innerSize) / ways;
      const rowElements = 2 * model.hiddenSize + (matrices * ffn.innerSize) / ways;
      const dense = once(`d${ways} ${tokens} ${ffn.innerSize}`, () =>
        matrixNs(tokens, elements, model.precision.rest, rowElements),
      );
      return { ...common, before: (mixers + 1) * residual + dense, after: 0, shared: 0 };
    }
    return {
      ...common,
      before: (mixers + 1) * residual + denseOf(ways, rows, 'before'),
      after: denseOf(ways, rows, 'after'),
      shared: ffn.sharedExpertCount === 0 ? 0 : denseOf(ways, tokens, 'shared'),
    };
  };
  const layers = new Map<string, LocalParts>();
  return {
    layer(layer, ways, work) {
      const { sequences, newTokens, contextTokens, cacheBytes } = work;
      const key = `${idOf(layer)} ${ways} ${sequences} ${newTokens} ${contextTokens} ${cacheBytes}`;
      const known = layers.get(key) ?? layerParts(layer, ways, work);
      layers.set(key, known);
      return known;
    },
    head(ways, rows) {
      const elements = (model.vocabSize * model.hiddenSize) / ways;
      return once(`h${ways} ${rows}`, () =>
        matrixNs(rows, elements, model.precision.rest, model.hiddenSize + model.vocabSize / ways),
      );
    },
  };
}

/** Bytes that a token's residual stream takes when it is handed to the next stage: the stream and its blocks. */
export function handoverBytes(model: ModelShape, stage: number, pipeline: number): number {
  const { attnResBlockLayers, layers, hiddenSize } = model;
  const done = Math.floor((layers.length * (stage + 1)) / pipeline);
  const blocks = attnResBlockLayers === null ? 0 : Math.ceil(done / attnResBlockLayers);
  return (1 + blocks) * hiddenSize * ACTIVATION_BYTES;
}
