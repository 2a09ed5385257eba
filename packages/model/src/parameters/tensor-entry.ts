/**
 * One line of a parameter list, and the bytes it takes in storage.
 * The one idea: elements are exact products of sizes; bytes add one scale per group of elements.
 * Does not know which rank holds a tensor, only along which axis it may be cut.
 */
import type { Precision } from '@epsim/spec';

export type TensorClass =
  | 'routed-expert'
  | 'shared-expert'
  | 'router'
  | 'latent-projection'
  | 'attention'
  | 'dense'
  | 'norm'
  | 'residual-query'
  | 'embedding'
  | 'head'
  | 'mtp-projection'
  | 'vision';

/**
 * How a tensor may be cut: over expert-parallel ranks, over tensor-parallel ranks, or not at all.
 * Multi-head latent attention's down-projections and every norm and router are whole on each rank.
 */
export type TensorSplit = 'experts' | 'tensor' | 'replicated';

/** What a block says about one of its tensors; layer, part and storage are added by the list. */
export interface TensorSize {
  readonly name: string;
  readonly tensorClass: TensorClass;
  readonly elements: number;
  /** Elements that one text token passes through; all of them when absent. */
  readonly activeElements?: number;
  readonly split: TensorSplit;
  /** Kept in 16 bits by quantised checkpoints: norms, biases, routers, embeddings, convolutions. */
  readonly plain: boolean;
}

export interface ParameterTensor {
  readonly name: string;
  readonly tensorClass: TensorClass;
  /** Zero-based layer, or null outside the stack. */
  readonly layer: number | null;
  /** Counts of a model usually quote the language part alone. */
  readonly part: 'language' | 'mtp' | 'vision';
  readonly elements: number;
  readonly bytes: number;
  readonly precision: Precision;
  /** True when a text token multiplies with it: the input embedding and the vision tower are read, not active. */
  readonly active: boolean;
  /** Elements that one text token multiplies with, topK of expertCount for routed experts. */
  readonly activeElements: number;
  readonly split: TensorSplit;
}

/**
 * Bytes of `elements` stored values with their scales; groups are counted over the whole tensor.
 * MXFP4 is 4 bits and one 8-bit scale per 32: 17,547,264 B for an expert of 33,030,144 elements.
 */
export function storedBytes(elements: number, precision: Precision): number {
  const scales = precision.groupSize > 0 ? Math.ceil(elements / precision.groupSize) : 0;
  return Math.ceil((elements * precision.bits + scales * precision.scaleBits) / 8);
}
