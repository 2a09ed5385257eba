/**
 * How the right-hand matrix of a product lies in memory: panels of 8 columns, one after another,
 * each with its k rows of 8 numbers in a row, so that the kernel reads it front to back.
 * f32 panels hold the 8 columns in order. BF16 panels hold columns j and j + 4 in one 32-bit word
 * (j in the low half): a shift and a mask unpack four columns each.
 * k is rounded up to a multiple of 4 and n to a multiple of 8 with zeros.
 */
import { fromBf16, toBf16 } from './numbers.js';
import type { PackedFormat } from './wat/gemm.js';

export type { PackedFormat } from './wat/gemm.js';

export const PANEL_COLUMNS = 8;

export function roundUp(value: number, multiple: number): number {
  return Math.ceil(value / multiple) * multiple;
}

/** Bytes of a packed [k x n] matrix. */
export function packedBytes(format: PackedFormat, k: number, n: number): number {
  return roundUp(k, 4) * roundUp(n, PANEL_COLUMNS) * (format === 'f32' ? 4 : 2);
}

/** Position of element (row, column) of a packed matrix, counted in elements of its format. */
export function packedIndex(format: PackedFormat, row: number, column: number, k: number): number {
  const panel = Math.floor(column / PANEL_COLUMNS);
  const inPanel = column % PANEL_COLUMNS;
  const place = format === 'f32' ? inPanel : (inPanel % 4) * 2 + Math.floor(inPanel / 4);
  return (panel * roundUp(k, 4) + row) * PANEL_COLUMNS + place;
}

function checkSizes(matrix: Float32Array, k: number, n: number, out: ArrayLike<number>): void {
  const wanted = roundUp(k, 4) * roundUp(n, PANEL_COLUMNS);
  if (matrix.length < k * n) throw new RangeError(`matrix of ${matrix.length} elements is not [${k} x ${n}]`);
  if (out.length < wanted)
    throw new RangeError(`packed [${k} x ${n}] needs ${wanted} elements, out has ${out.length}`);
}

/** Packs a row-major matrix [k x n] as f32 into `out`, and zeros where it is padded. */
export function packF32(matrix: Float32Array, k: number, n: number, out: Float32Array): void {
  checkSizes(matrix, k, n, out);
  out.fill(0, 0, roundUp(k, 4) * roundUp(n, PANEL_COLUMNS));
  for (let row = 0; row < k; row++) {
    for (let column = 0; column < n; column++) {
      out[packedIndex('f32', row, column, k)] = matrix[row * n + column];
    }
  }
}

/** Packs a row-major matrix [k x n] rounded to BF16 into `out`, and zeros where it is padded. */
export function packBf16(matrix: Float32Array, k: number, n: number, out: Uint16Array): void {
  checkSizes(matrix, k, n, out);
  out.fill(0, 0, roundUp(k, 4) * roundUp(n, PANEL_COLUMNS));
  for (let row = 0; row < k; row++) {
    for (let column = 0; column < n; column++) {
      out[packedIndex('bf16', row, column, k)] = toBf16(matrix[row * n + column]);
    }
  }
}

/** The inverse: a packed BF16 matrix as row-major f32 [k x n] in `out`. */
export function unpackBf16(packed: Uint16Array, k: number, n: number, out: Float32Array): void {
  for (let row = 0; row < k; row++) {
    for (let column = 0; column < n; column++) {
      out[row * n + column] = fromBf16(packed[packedIndex('bf16', row, column, k)]);
    }
  }
}
