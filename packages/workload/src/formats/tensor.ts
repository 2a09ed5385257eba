/**
 * An array of numbers as files keep it: element type, shape, and the values in row-major order.
 * Sixteen-bit floats are widened and 64-bit integers narrowed to doubles, exactly or not at all.
 */
import type { ByteReader } from './bytes.js';

export type ElementType =
  | 'u8'
  | 'i8'
  | 'u16'
  | 'i16'
  | 'u32'
  | 'i32'
  | 'u64'
  | 'i64'
  | 'f16'
  | 'bf16'
  | 'f32'
  | 'f64';

export type NumberArray =
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | Float32Array
  | Float64Array;

export interface Tensor {
  readonly type: ElementType;
  readonly shape: readonly number[];
  /** Row-major, as many as the shape says. */
  readonly values: NumberArray;
}

export const elementBytes: Readonly<Record<ElementType, number>> = {
  u8: 1,
  i8: 1,
  u16: 2,
  i16: 2,
  u32: 4,
  i32: 4,
  u64: 8,
  i64: 8,
  f16: 2,
  bf16: 2,
  f32: 4,
  f64: 8,
};

/** Elements of a shape; 1 for a scalar. */
export function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** The next `count` little-endian elements. Throws RangeError when they are cut off or exceed 2^53. */
export function readElements(reader: ByteReader, type: ElementType, count: number): NumberArray {
  const start = reader.at;
  const raw = reader.take(count * elementBytes[type]);
  // A copy, so that the array is aligned whatever the offset in the file.
  const { buffer } = Uint8Array.from(raw);
  if (type === 'u64' || type === 'i64') return narrow(buffer, type, reader, start);
  if (type === 'f16') return Float32Array.from(new Uint16Array(buffer), halfToNumber);
  if (type === 'bf16') {
    return new Float32Array(Uint32Array.from(new Uint16Array(buffer), (bits) => bits << 16).buffer);
  }
  return new arrays[type](buffer);
}

const arrays = {
  u8: Uint8Array,
  i8: Int8Array,
  u16: Uint16Array,
  i16: Int16Array,
  u32: Uint32Array,
  i32: Int32Array,
  f32: Float32Array,
  f64: Float64Array,
} as const;

function narrow(buffer: ArrayBuffer, type: 'u64' | 'i64', reader: ByteReader, start: number): Float64Array {
  const wide = type === 'i64' ? new BigInt64Array(buffer) : new BigUint64Array(buffer);
  const values = new Float64Array(wide.length);
  for (let i = 0; i < wide.length; i++) {
    values[i] = Number(wide[i]);
    if (!Number.isSafeInteger(values[i])) throw reader.fault(`${wide[i]} is too large`, start + 8 * i);
  }
  return values;
}

function halfToNumber(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** `[61 x 256]` */
export function shapeText(shape: readonly number[]): string {
  return `[${shape.join(' x ')}]`;
}
