/**
 * The expert layer that is carried, as sizes and seeds: the one thing that the distributed run and its
 * reference both start from. Weights and hidden states are functions of the seed, so nothing is loaded
 * and any process can make its own share.
 * Only inner sizes are scaled down from the real model; widths, experts and top-k are the model's own.
 */
import { type ModelShape, seedFor } from '@epsim/spec';
import type { Glu } from '@epsim/tensor';

export interface CarriedModel {
  readonly seed: number;
  readonly expertCount: number;
  readonly hiddenSize: number;
  /** Width of the rows that travel. */
  readonly expertWidth: number;
  readonly latent: boolean;
  readonly latentNorm: boolean;
  /** Inner size of a routed expert and of all shared experts together, both as carried. */
  readonly innerSize: number;
  readonly sharedInnerSize: number;
  readonly glu: Glu;
}

/**
 * The model's expert layer with experts of `innerSize`. Shared experts shrink by the same factor, rounded up
 * to a multiple of 8. Throws RangeError for what the kernels do not have: experts without a gate, activations
 * other than SwiGLU and SiTU-GLU, and widths that are not multiples of 8.
 */
export function carriedModel(shape: ModelShape, innerSize: number, seed: number): CarriedModel {
  const { moe } = shape;
  const { activation, situ } = shape;
  if (!moe.gated || (activation !== 'swiglu' && activation !== 'situ')) {
    throw new RangeError(
      `cannot carry ${activation} experts${moe.gated ? '' : ' without a gate'}; use --time-only`,
    );
  }
  for (const width of [shape.hiddenSize, moe.expertWidth, innerSize]) {
    if (width % 8 !== 0) throw new RangeError(`cannot carry rows of ${width}: not a multiple of 8`);
  }
  const shared = (moe.sharedExpertCount * moe.sharedInnerSize * innerSize) / moe.expertInnerSize;
  return {
    seed,
    expertCount: moe.expertCount,
    hiddenSize: shape.hiddenSize,
    expertWidth: moe.expertWidth,
    latent: moe.latent,
    latentNorm: moe.latentNorm,
    innerSize,
    sharedInnerSize: Math.ceil(shared / 8) * 8,
    glu: activation === 'situ' && situ ? { kind: 'situ', ...situ } : { kind: 'swiglu' },
  };
}

/** One matrix of the layer: `fanIn` rows by `fanOut` columns, uniform in [-scale, scale), rounded to BF16. */
export interface CarriedMatrix {
  readonly fanIn: number;
  readonly fanOut: number;
  readonly seed: number;
  readonly scale: number;
}

export type MatrixName = 'down' | 'up' | 'sharedIn' | 'sharedOut' | 'expertIn' | 'expertOut';

/**
 * The named matrix of a layer; `expert` counts for the two of an expert. `expertIn` and `sharedIn` hold gate and
 * up side by side: columns [0, inner) and [inner, 2 inner). The scale keeps the variance of a row: sqrt(3 / fanIn).
 */
export function carriedMatrix(
  model: CarriedModel,
  name: MatrixName,
  layer: number,
  expert = 0,
): CarriedMatrix {
  const sizes: Record<MatrixName, readonly [number, number]> = {
    down: [model.hiddenSize, model.expertWidth],
    up: [model.expertWidth, model.hiddenSize],
    sharedIn: [model.hiddenSize, 2 * model.sharedInnerSize],
    sharedOut: [model.sharedInnerSize, model.hiddenSize],
    expertIn: [model.expertWidth, 2 * model.innerSize],
    expertOut: [model.innerSize, model.expertWidth],
  };
  const [fanIn, fanOut] = sizes[name];
  return { fanIn, fanOut, seed: seedFor(model.seed, name, layer, expert), scale: Math.sqrt(3 / fanIn) };
}

/** Seed of the hidden states of one rank's tokens, uniform in [-1, 1) by index token x hiddenSize + column. */
export function hiddenSeed(model: CarriedModel, step: number, layer: number, rank: number): number {
  return seedFor(model.seed, 'hidden', step, layer, rank);
}
