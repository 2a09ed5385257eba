/**
 * The number formats that weights are stored in, with the scales that come with them.
 * A 4-bit format never costs 4 bits: its scales are part of it.
 */
import type { Precision } from './model-shape.js';

/** Formats by name, as checkpoints commonly store them. */
export const precisions = {
  fp32: { name: 'fp32', bits: 32, groupSize: 0, scaleBits: 0 },
  bf16: { name: 'bf16', bits: 16, groupSize: 0, scaleBits: 0 },
  /** One FP32 scale per 128 x 128 block (DeepSeek-V3). */
  fp8: { name: 'fp8', bits: 8, groupSize: 16_384, scaleBits: 32 },
  /** One 8-bit exponent per 32 elements (OCP microscaling formats 1.0). */
  mxfp8: { name: 'mxfp8', bits: 8, groupSize: 32, scaleBits: 8 },
  mxfp4: { name: 'mxfp4', bits: 4, groupSize: 32, scaleBits: 8 },
  /** One FP8 scale per 16 elements. */
  nvfp4: { name: 'nvfp4', bits: 4, groupSize: 16, scaleBits: 8 },
  int8: { name: 'int8', bits: 8, groupSize: 0, scaleBits: 0 },
  /** One BF16 scale per 32 elements (compressed-tensors, group 32). */
  int4: { name: 'int4', bits: 4, groupSize: 32, scaleBits: 16 },
} as const satisfies Record<Precision['name'], Precision>;

/** Bytes of one stored element on average, its share of the scale included: 0.53125 for MXFP4. */
export function bytesPerElement(precision: Precision): number {
  const scale = precision.groupSize === 0 ? 0 : precision.scaleBits / precision.groupSize;
  return (precision.bits + scale) / 8;
}
