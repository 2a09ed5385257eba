/**
 * Every weight of a K3-like model, named and in its place.
 * Its one idea: one walk over the shape asks a maker for each tensor, so that random starts, trained values
 * and parameter lists all come from the same walk. Matrices are [in x out].
 */
import { type ModelShape, type MoeShape, randomSource, seedFor } from '@epsim/spec';
import { weightsInto } from '@epsim/tensor';
import type { DepthQuery } from '../attention-residual.js';
import type { MlaShape, MlaWeights } from '../gated-mla.js';
import type { GluNetworkWeights } from '../glu-network.js';
import type { HeadWeights } from '../head.js';
import type { KdaShape, KdaWeights } from '../kda.js';
import type { LatentMoeWeights } from '../latent-moe.js';

/** What a tensor starts as: a product's weights, gains of one, zeros, convolution taps, logs of decay rates, depth queries. */
export type TensorKind = 'matrix' | 'gain' | 'zero' | 'taps' | 'decay-log' | 'embedding' | 'query';

/** Gives the values of the tensor `name`, [rows x columns]. */
export type TensorMaker = (name: string, rows: number, columns: number, kind: TensorKind) => Float32Array;

export interface K3LayerWeights {
  readonly attentionMix: DepthQuery;
  readonly attentionNorm: Float32Array;
  readonly mixer:
    | { readonly kind: 'kda'; readonly weights: KdaWeights }
    | { readonly kind: 'mla'; readonly weights: MlaWeights };
  readonly ffnMix: DepthQuery;
  readonly ffnNorm: Float32Array;
  readonly ffn:
    | { readonly kind: 'dense'; readonly weights: GluNetworkWeights }
    | { readonly kind: 'moe'; readonly weights: LatentMoeWeights };
}

export interface K3Weights {
  /** [vocabulary x hidden] */
  readonly embedding: Float32Array;
  readonly layers: readonly K3LayerWeights[];
  readonly outputMix: DepthQuery;
  readonly head: HeadWeights;
}

function gluWeights(make: TensorMaker, name: string, width: number, inner: number): GluNetworkWeights {
  return {
    gate: make(`${name}.gate`, width, inner, 'matrix'),
    up: make(`${name}.up`, width, inner, 'matrix'),
    down: make(`${name}.down`, inner, width, 'matrix'),
  };
}

function kdaWeights(make: TensorMaker, name: string, hidden: number, shape: KdaShape): KdaWeights {
  const { headCount, headDim, convSize, gateRank } = shape;
  const inner = headCount * headDim;
  const part = (tensor: string, rows: number, columns: number, kind: TensorKind = 'matrix') =>
    make(`${name}.${tensor}`, rows, columns, kind);
  return {
    query: part('query', hidden, inner),
    key: part('key', hidden, inner),
    value: part('value', hidden, inner),
    queryConv: part('queryConv', inner, convSize, 'taps'),
    keyConv: part('keyConv', inner, convSize, 'taps'),
    valueConv: part('valueConv', inner, convSize, 'taps'),
    decayDown: part('decayDown', hidden, gateRank),
    decayUp: part('decayUp', gateRank, inner),
    decayLog: part('decayLog', 1, headCount, 'decay-log'),
    decayShift: part('decayShift', 1, inner, 'zero'),
    beta: part('beta', hidden, headCount),
    gate: part('gate', hidden, inner),
    norm: part('norm', 1, headDim, 'gain'),
    out: part('out', inner, hidden),
  };
}

function mlaWeights(make: TensorMaker, name: string, hidden: number, shape: MlaShape): MlaWeights {
  const { headCount, qLoraRank, kvLoraRank, nopeHeadDim, ropeHeadDim, valueHeadDim, outputGate } = shape;
  const part = (tensor: string, rows: number, columns: number, kind: TensorKind = 'matrix') =>
    make(`${name}.${tensor}`, rows, columns, kind);
  return {
    queryDown: qLoraRank === null ? null : part('queryDown', hidden, qLoraRank),
    queryNorm: qLoraRank === null ? null : part('queryNorm', 1, qLoraRank, 'gain'),
    queryUp: part('queryUp', qLoraRank ?? hidden, headCount * (nopeHeadDim + ropeHeadDim)),
    latentDown: part('latentDown', hidden, kvLoraRank + ropeHeadDim),
    latentNorm: part('latentNorm', 1, kvLoraRank, 'gain'),
    keyUp: part('keyUp', kvLoraRank, headCount * nopeHeadDim),
    valueUp: part('valueUp', kvLoraRank, headCount * valueHeadDim),
    gate: outputGate ? part('gate', hidden, headCount * valueHeadDim) : null,
    out: part('out', headCount * valueHeadDim, hidden),
  };
}

function moeWeights(make: TensorMaker, name: string, hidden: number, moe: MoeShape): LatentMoeWeights {
  const { expertCount, expertWidth: width, expertInnerSize, sharedExpertCount, sharedInnerSize } = moe;
  return {
    router: make(`${name}.router`, hidden, expertCount, 'matrix'),
    selectionBias: make(`${name}.selectionBias`, 1, expertCount, 'zero'),
    latent: moe.latent
      ? {
          down: make(`${name}.latentDown`, hidden, width, 'matrix'),
          norm: moe.latentNorm ? make(`${name}.latentNorm`, 1, width, 'gain') : null,
          up: make(`${name}.latentUp`, width, hidden, 'matrix'),
        }
      : null,
    experts: Array.from({ length: expertCount }, (_, expert) =>
      gluWeights(make, `${name}.experts.${expert}`, width, expertInnerSize),
    ),
    shared:
      sharedExpertCount === 0
        ? null
        : gluWeights(make, `${name}.shared`, hidden, sharedExpertCount * sharedInnerSize),
  };
}

function layerWeights(make: TensorMaker, shape: ModelShape, layer: number): K3LayerWeights {
  const { hiddenSize: hidden } = shape;
  const { attention, ffn } = shape.layers[layer];
  const name = `layers.${layer}`;
  if (ffn === null || (attention?.kind !== 'kda' && attention?.kind !== 'mla')) {
    throw new RangeError(`layer ${layer} of ${shape.name} is not K3's: ${attention?.kind ?? 'no'} attention`);
  }
  return {
    attentionMix: depthQuery(make, `${name}.attentionMix`, hidden),
    attentionNorm: make(`${name}.attentionNorm`, 1, hidden, 'gain'),
    mixer:
      attention.kind === 'kda'
        ? { kind: 'kda', weights: kdaWeights(make, `${name}.kda`, hidden, attention) }
        : { kind: 'mla', weights: mlaWeights(make, `${name}.mla`, hidden, attention) },
    ffnMix: depthQuery(make, `${name}.ffnMix`, hidden),
    ffnNorm: make(`${name}.ffnNorm`, 1, hidden, 'gain'),
    ffn:
      ffn.kind === 'dense'
        ? { kind: 'dense', weights: gluWeights(make, `${name}.dense`, hidden, ffn.innerSize) }
        : { kind: 'moe', weights: moeWeights(make, `${name}.moe`, hidden, ffn) },
  };
}

function depthQuery(make: TensorMaker, name: string, hidden: number): DepthQuery {
  return { query: make(`${name}.query`, 1, hidden, 'query'), gain: make(`${name}.gain`, 1, hidden, 'gain') };
}

/** All weights of `shape`, each asked of `make` once. Throws RangeError for a shape that is not K3-like. */
export function k3Weights(shape: ModelShape, make: TensorMaker): K3Weights {
  if (shape.attnResBlockLayers === null || shape.tiedEmbeddings) {
    throw new RangeError(`${shape.name} is not K3's: it has no attention residuals, or ties its embeddings`);
  }
  return {
    embedding: make('embedding', shape.vocabSize, shape.hiddenSize, 'embedding'),
    layers: shape.layers.map((_, layer) => layerWeights(make, shape, layer)),
    outputMix: depthQuery(make, 'outputMix', shape.hiddenSize),
    head: {
      norm: make('head.norm', 1, shape.hiddenSize, 'gain'),
      words: make('head.words', shape.hiddenSize, shape.vocabSize, 'matrix'),
    },
  };
}

/**
 * A seeded start: products keep the variance of what passes through them, decay rates are log-uniform over
 * 1..16 as in K3, depth queries give logits of about one. `layers.L.moe.experts.E` are the hashed weights of
 * `hashedExpert`, so that an engine can make its own copies.
 */
export function seededMaker(shape: ModelShape, seed: number): TensorMaker {
  let held = '';
  let expert: GluNetworkWeights | null = null;
  return (name, rows, columns, kind) => {
    const out = new Float32Array(rows * columns);
    const routed = /^layers\.(\d+)\.moe\.experts\.(\d+)\.(gate|up|down)$/.exec(name);
    if (routed !== null) {
      const own = name.slice(0, -routed[3].length);
      if (expert === null || own !== held)
        expert = hashedExpert(seed, Number(routed[1]), Number(routed[2]), shape.moe);
      held = own;
      return expert[routed[3] as keyof GluNetworkWeights];
    }
    const random = randomSource(seed, 'weights', name);
    const sizes = { matrix: rows ** -0.5, taps: columns ** -0.5, embedding: 1, query: columns ** -0.5 };
    if (kind === 'gain') return out.fill(1);
    if (kind === 'zero') return out;
    if (kind === 'decay-log') return out.map(() => Math.log(1 + 15 * random.uniform()));
    return out.map(() => sizes[kind] * random.normal());
  };
}

/**
 * Weights of one routed expert by their hash, rounded to BF16: gate and up are the two halves of a matrix
 * [width x 2 inner] with seed `seedFor(seed, 'expertIn', layer, expert)`, down [inner x width] has `'expertOut'`;
 * each is uniform with the variance 1 / rows. `fillWeightsBf16` with the same seeds writes the same numbers.
 */
export function hashedExpert(seed: number, layer: number, expert: number, moe: MoeShape): GluNetworkWeights {
  const { expertWidth: width, expertInnerSize: inner } = moe;
  if (width % 8 !== 0 || inner % 8 !== 0)
    throw new RangeError(`hashed experts of ${width} x ${inner}: not multiples of 8`);
  const both = new Float32Array(width * 2 * inner);
  weightsInto(both, seedFor(seed, 'expertIn', layer, expert), 0, Math.sqrt(3 / width));
  const half = (from: number) =>
    Float32Array.from(
      { length: width * inner },
      (_, i) => both[Math.floor(i / inner) * 2 * inner + from + (i % inner)],
    );
  const down = new Float32Array(inner * width);
  weightsInto(down, seedFor(seed, 'expertOut', layer, expert), 0, Math.sqrt(3 / inner));
  return { gate: half(0), up: half(inner), down };
}
