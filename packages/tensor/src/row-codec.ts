/**
 * Rows of floats as bytes on a wire, and back, in the plain form.
 * A row is its elements, then its scales: FP8 has one f32 per 128 elements (DeepEP), MXFP8 and MXFP4
 * one power-of-two byte per 32 (OCP MX 1.0, section 6.3), BF16 and FP32 none. A 3584-wide FP8 row
 * is 3696 bytes. The last block of a row may be short. Inputs are finite.
 * Knows nothing about who sends what; the kernel's `encodeRows` gives the same bytes faster.
 */
import { E4M3_MAX, floatToBits, fromBf16, fromE2m1, fromE4m3, toBf16, toE2m1, toE4m3 } from './numbers.js';

/** The formats of the scenario nouns, named here because this package imports nothing. */
export type RowFormat = 'bf16' | 'fp32' | 'fp8' | 'mxfp8' | 'mxfp4';

export const ROW_FORMATS: readonly RowFormat[] = ['fp32', 'bf16', 'fp8', 'mxfp8', 'mxfp4'];

interface FormatLayout {
  readonly bitsPerElement: number;
  /** Elements that share a scale, or, where there is none, that the vector form takes at a time. */
  readonly blockSize: number;
  readonly scaleBytes: number;
}

export const ROW_LAYOUTS: Readonly<Record<RowFormat, FormatLayout>> = {
  fp32: { bitsPerElement: 32, blockSize: 1, scaleBytes: 0 },
  bf16: { bitsPerElement: 16, blockSize: 8, scaleBytes: 0 },
  fp8: { bitsPerElement: 8, blockSize: 128, scaleBytes: 4 },
  mxfp8: { bitsPerElement: 8, blockSize: 32, scaleBytes: 1 },
  mxfp4: { bitsPerElement: 4, blockSize: 32, scaleBytes: 1 },
};

/** Bytes of the elements of one row, scales apart; the scales begin there. */
export function elementBytes(format: RowFormat, width: number): number {
  return Math.ceil((width * ROW_LAYOUTS[format].bitsPerElement) / 8);
}

/** Bytes of one row of `width` elements, scales included. */
export function rowBytes(format: RowFormat, width: number): number {
  const { blockSize, scaleBytes } = ROW_LAYOUTS[format];
  return elementBytes(format, width) + scaleBytes * Math.ceil(width / blockSize);
}

function largest(x: Float32Array, from: number, to: number): number {
  let top = 0;
  for (let i = from; i < to; i++) top = Math.max(top, Math.abs(x[i]));
  return top;
}

/** Exponent byte of a block whose largest size is `top`: its own exponent less that of the element format. */
function sharedExponent(top: number, elementExponent: number): number {
  return Math.max(1, (floatToBits(top) >>> 23) - elementExponent);
}

/** Writes the scale of one block at byte `at` and returns what elements are multiplied or divided by. */
function writeScale(format: RowFormat, top: number, out: DataView, at: number): number {
  if (format === 'fp8') {
    const scale = Math.fround(Math.max(top, 2 ** -100) / E4M3_MAX);
    out.setFloat32(at, scale, true);
    return scale;
  }
  const exponent = sharedExponent(top, format === 'mxfp8' ? 8 : 2);
  out.setUint8(at, exponent);
  return 2 ** (exponent - 127);
}

function readScale(format: RowFormat, row: DataView, at: number): number {
  return format === 'fp8' ? row.getFloat32(at, true) : 2 ** (row.getUint8(at) - 127);
}

function writeElement(format: RowFormat, value: number, i: number, out: DataView): void {
  if (format === 'fp32') out.setFloat32(4 * i, value, true);
  else if (format === 'bf16') out.setUint16(2 * i, toBf16(value), true);
  else if (format !== 'mxfp4') out.setUint8(i, toE4m3(value));
  else {
    const held = i % 2 === 0 ? 0 : out.getUint8(i >> 1);
    out.setUint8(i >> 1, held | (toE2m1(value) << (i % 2 === 0 ? 0 : 4)));
  }
}

function readElement(format: RowFormat, i: number, row: DataView): number {
  if (format === 'fp32') return row.getFloat32(4 * i, true);
  if (format === 'bf16') return fromBf16(row.getUint16(2 * i, true));
  if (format !== 'mxfp4') return fromE4m3(row.getUint8(i));
  return fromE2m1((row.getUint8(i >> 1) >> (i % 2 === 0 ? 0 : 4)) & 15);
}

/** One row `x` [width] into the bytes of `out`, from block `firstBlock` on. */
export function encodeRowNaive(format: RowFormat, x: Float32Array, out: DataView, firstBlock = 0): void {
  const { blockSize, scaleBytes } = ROW_LAYOUTS[format];
  const scalesAt = elementBytes(format, x.length);
  for (let block = firstBlock; block * blockSize < x.length; block++) {
    const from = block * blockSize;
    const to = Math.min(x.length, from + blockSize);
    const scale =
      scaleBytes === 0 ? 1 : writeScale(format, largest(x, from, to), out, scalesAt + block * scaleBytes);
    for (let i = from; i < to; i++) writeElement(format, Math.fround(x[i] / scale), i, out);
  }
}

/** One row's bytes into `out` [width], from block `firstBlock` on. */
export function decodeRowNaive(format: RowFormat, row: DataView, out: Float32Array, firstBlock = 0): void {
  const { blockSize, scaleBytes } = ROW_LAYOUTS[format];
  const scalesAt = elementBytes(format, out.length);
  for (let block = firstBlock; block * blockSize < out.length; block++) {
    const from = block * blockSize;
    const to = Math.min(out.length, from + blockSize);
    const scale = scaleBytes === 0 ? 1 : readScale(format, row, scalesAt + block * scaleBytes);
    for (let i = from; i < to; i++) out[i] = readElement(format, i, row) * scale;
  }
}
