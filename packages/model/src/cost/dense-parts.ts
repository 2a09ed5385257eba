/**
 * The parts of a layer of experts that are not routed: router, latent projections, shared experts, norms.
 * The one idea: FLOPs are twice the matrix elements per row, bytes are weights once and rows in and out.
 */
import type { DeviceSpec, Estimate, ModelShape, Precision } from '@epsim/spec';
import { moeTensors } from '../parameters/feed-forward-parameters.js';
import { storedBytes } from '../parameters/tensor-entry.js';
import type { ComputeFormat, DeviceProfile } from './device-profile.js';
import { profileFor } from './profiles.js';
import { addWork, NO_WORK, rooflineTime, type Work } from './roofline.js';

/** Activations between kernels are 16 bits. */
const ACTIVATION_BYTES = 2;

/** A matrix product of `rows` rows: [rows x inner] by [inner x outer], `elements` = inner x outer. */
export function matrixWork(rows: number, elements: number, precision: Precision, rowElements: number): Work {
  return {
    flops: 2 * rows * elements,
    bytes: storedBytes(elements, precision) + ACTIVATION_BYTES * rows * rowElements,
    kernels: 1,
  };
}

/** A kernel that reads and writes rows without a matrix: norms, activations, copies. */
export function elementWork(rows: number, elementsIn: number, elementsOut: number): Work {
  return {
    flops: rows * (elementsIn + elementsOut),
    bytes: ACTIVATION_BYTES * rows * (elementsIn + elementsOut),
    kernels: 1,
  };
}

/** Format in which a stored matrix is multiplied: 16-bit weights in BF16, 8-bit ones in FP8. */
export function computeFormatOf(precision: Precision): ComputeFormat {
  return precision.bits > 8 ? 'bf16' : 'fp8';
}

export type DensePart = 'router' | 'downProjection' | 'upProjection' | 'sharedExperts' | 'norms';

/** FLOPs, bytes and launches of the unrouted parts of one layer of experts for `rows` tokens of a rank. */
export function denseLayerWork(model: ModelShape, rows: number): Record<DensePart, Work> {
  const { moe, hiddenSize } = model;
  const { rest } = model.precision;
  if (rows === 0) {
    return {
      router: NO_WORK,
      downProjection: NO_WORK,
      upProjection: NO_WORK,
      sharedExperts: NO_WORK,
      norms: NO_WORK,
    };
  }
  const latent = moe.latent
    ? matrixWork(rows, hiddenSize * moe.expertWidth, rest, hiddenSize + moe.expertWidth)
    : NO_WORK;
  const shared = moeTensors(moe, hiddenSize).find((tensor) => tensor.tensorClass === 'shared-expert');
  const inner = moe.sharedExpertCount * moe.sharedInnerSize;
  const sharedRows = 2 * hiddenSize + (moe.gated ? 5 : 3) * inner;
  const router = matrixWork(rows, hiddenSize * moe.expertCount, rest, hiddenSize + 2 * moe.expertCount);
  const norms = elementWork(rows, hiddenSize, hiddenSize);
  const latentNorm = moe.latentNorm ? elementWork(rows, moe.expertWidth, moe.expertWidth) : NO_WORK;
  return {
    router: { ...router, kernels: 2 },
    downProjection: latent,
    upProjection: latent,
    sharedExperts:
      shared === undefined ? NO_WORK : { ...matrixWork(rows, shared.elements, rest, sharedRows), kernels: 3 },
    norms: addWork(norms, latentNorm),
  };
}

/** Times of the unrouted parts of one layer of experts for the tokens of one rank. */
export function denseLayerParts(
  model: ModelShape,
  device: DeviceSpec,
  tokensPerRank: number,
  profile: DeviceProfile = profileFor(device, model.precision.routedExperts),
): Record<DensePart, Estimate> {
  const format = computeFormatOf(model.precision.rest);
  const work = denseLayerWork(model, tokensPerRank);
  const time = (part: DensePart): Estimate =>
    rooflineTime(work[part], device, profile, profile.dense, format);
  return {
    router: time('router'),
    downProjection: time('downProjection'),
    upProjection: time('upProjection'),
    sharedExperts: time('sharedExperts'),
    norms: time('norms'),
  };
}
