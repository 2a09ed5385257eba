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
import type { ClusterSpec, DeviceSpec, LayerShape, ModelShape } from '@epsim/spec';
import { sliceOf } from './slice.js';
import type { StepPhase } from './stages.js';

/** A step of one attention group. */
export interface StepWork {
  readonly phase: StepPhase;
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

/** A model on a device, with what its kernels reach. */
interface Site {
  readonly model: ModelShape;
  readonly device: DeviceSpec;
  readonly profile: DeviceProfile;
  /** The duration kept under `key`, or found now. */
  once(key: string, find: () => number): number;
  /** A number for each shape that was seen, for keys. */
  idOf(shape: unknown): number;
}

/** Durations on one device; those of equal questions are kept. */
export function createLocalModel(
  model: ModelShape,
  { device }: ClusterSpec,
  profile: DeviceProfile,
): LocalModel {
  const kept = new Map<string, number>();
  const ids = new Map<unknown, number>();
  const site: Site = {
    ...{ model, device, profile },
    once(key, find) {
      const known = kept.get(key) ?? find();
      kept.set(key, known);
      return known;
    },
    idOf(shape) {
      const id = ids.get(shape) ?? ids.size;
      ids.set(shape, id);
      return id;
    },
  };
  const layers = new Map<string, LocalParts>();
  return {
    layer(layer, ways, work) {
      const { sequences, newTokens, contextTokens, cacheBytes } = work;
      const key = `${site.idOf(layer)} ${ways} ${sequences} ${newTokens} ${contextTokens} ${cacheBytes}`;
      const known = layers.get(key) ?? layerParts(site, layer, ways, work);
      layers.set(key, known);
      return known;
    },
    head: (ways, rows) =>
      site.once(`h${ways} ${rows}`, () =>
        matrixNs(
          site,
          rows,
          (model.vocabSize * model.hiddenSize) / ways,
          model.hiddenSize + model.vocabSize / ways,
        ),
      ),
  };
}

function layerParts(site: Site, { attention, ffn }: LayerShape, ways: number, work: StepWork): LocalParts {
  const { model } = site;
  const tokens = work.sequences * work.newTokens;
  // After the mixer each rank of the group has its part of the tokens, until the next mixer gathers them.
  const rows = tokens / ways;
  const mixers = attention === null ? 0 : 1;
  const residual = site.once(`r${rows}`, () => residualNs(site, rows));
  const common = { attention: attentionNs(site, attention, ways, work) };
  if (ffn === null) return { ...common, before: mixers * residual, after: 0, shared: 0 };
  if (ffn.kind === 'dense') {
    const matrices = model.moe.gated ? 3 : 2;
    const elements = (matrices * model.hiddenSize * ffn.innerSize) / ways;
    const rowElements = 2 * model.hiddenSize + (matrices * ffn.innerSize) / ways;
    const dense = site.once(`d${ways} ${tokens} ${ffn.innerSize}`, () =>
      matrixNs(site, tokens, elements, rowElements),
    );
    return { ...common, before: (mixers + 1) * residual + dense, after: 0, shared: 0 };
  }
  return {
    ...common,
    before: (mixers + 1) * residual + unroutedNs(site, ways, rows, 'before'),
    after: unroutedNs(site, ways, rows, 'after'),
    shared: ffn.sharedExpertCount === 0 ? 0 : unroutedNs(site, ways, tokens, 'shared'),
  };
}

function attentionNs(site: Site, attention: LayerShape['attention'], ways: number, work: StepWork): number {
  if (attention === null || work.sequences === 0) return 0;
  const { model, device, profile } = site;
  const { projections, core } = attentionParts(model, device, sliceOf(attention, ways), work, profile);
  return projections.ns + core.ns;
}

/** Router, projections and norms of a layer of experts for `rows` of a rank; shared experts cut `ways` ways. */
function unroutedNs(site: Site, ways: number, rows: number, part: keyof LocalParts): number {
  return site.once(`m${ways} ${rows} ${part}`, () => {
    const { model, device, profile } = site;
    const { moe } = model;
    const cut = { ...model, moe: { ...moe, sharedInnerSize: moe.sharedInnerSize / ways } };
    const parts = denseLayerParts(cut, device, rows, profile);
    if (part === 'shared') return parts.sharedExperts.ns;
    return part === 'after'
      ? parts.upProjection.ns
      : parts.router.ns + parts.downProjection.ns + parts.norms.ns;
  });
}

function matrixNs(
  { model, device, profile }: Site,
  rows: number,
  elements: number,
  rowElements: number,
): number {
  const { rest } = model.precision;
  if (rows === 0) return 0;
  const work = matrixWork(rows, elements, rest, rowElements);
  return rooflineNs(work, device, profile.dense, rest.bits > 8 ? 'bf16' : 'fp8');
}

/**
 * The residual stream's norm, or the mix of half of the blocks that attention residuals keep on average. Streams of
 * hyper-connections are read for a block's input, and read and written for its output.
 */
function residualNs({ model, device, profile }: Site, rows: number): number {
  if (rows === 0) return 0;
  const { attnResBlockLayers, residualStreams, hiddenSize, layers } = model;
  const blocks = attnResBlockLayers === null ? 0 : Math.ceil(layers.length / attnResBlockLayers) / 2;
  const [sources, results] =
    residualStreams === 1 ? [blocks + 1, 1] : [2 * residualStreams + 1, residualStreams + 1];
  return rooflineNs(elementWork(rows, sources * hiddenSize, results * hiddenSize), device, profile.dense);
}

/** Bytes that a token's residual stream takes when it is handed to the next stage: the streams and their blocks. */
export function handoverBytes(model: ModelShape, stage: number, pipeline: number): number {
  const { attnResBlockLayers, residualStreams, layers, hiddenSize } = model;
  const done = Math.floor((layers.length * (stage + 1)) / pipeline);
  const blocks = attnResBlockLayers === null ? 0 : Math.ceil(done / attnResBlockLayers);
  return (residualStreams + blocks) * hiddenSize * ACTIVATION_BYTES;
}
