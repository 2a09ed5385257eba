/**
 * One number at a time between f32 and the small formats: BF16, E4M3 (FP8), E2M1 (FP4).
 * Rounding is to nearest, ties to even; E4M3 and E2M1 saturate. Inputs are finite.
 * These are the plain forms that the vector code is compared with, bit for bit.
 */
const bits = new Uint32Array(1);
const float = new Float32Array(bits.buffer);

export function floatToBits(value: number): number {
  float[0] = value;
  return bits[0];
}

function bitsToFloat(word: number): number {
  bits[0] = word;
  return float[0];
}

/** The 16 bits of `value` as BF16. */
export function toBf16(value: number): number {
  const word = floatToBits(value);
  return (word + 0x7fff + ((word >>> 16) & 1)) >>> 16;
}

export function fromBf16(code: number): number {
  return bitsToFloat(code << 16);
}

/** Nearest multiple of `step`, ties to even; exact while value / step stays below 2^52. */
function roundTo(value: number, step: number): number {
  const scaled = value / step;
  const low = Math.floor(scaled);
  const rest = scaled - low;
  const up = rest > 0.5 || (rest === 0.5 && low % 2 !== 0);
  return (up ? low + 1 : low) * step;
}

/** A format with `mantissaBits`, smallest normal exponent `minExponent`, and largest finite value `max`. */
function quantize(size: number, mantissaBits: number, minExponent: number, max: number): number {
  if (size === 0) return 0;
  const exponent = Math.max(minExponent, Math.floor(Math.log2(size)));
  return Math.min(max, roundTo(size, 2 ** (exponent - mantissaBits)));
}

function code(value: number, mantissaBits: number, minExponent: number, max: number): number {
  const size = quantize(Math.abs(value), mantissaBits, minExponent, max);
  const smallestNormal = 2 ** minExponent;
  if (size < smallestNormal) return size / 2 ** (minExponent - mantissaBits);
  const exponent = Math.floor(Math.log2(size));
  const mantissa = (size / 2 ** exponent - 1) * 2 ** mantissaBits;
  return ((exponent - minExponent + 1) << mantissaBits) | mantissa;
}

function decode(bitsOfSize: number, mantissaBits: number, minExponent: number): number {
  const exponent = bitsOfSize >> mantissaBits;
  const mantissa = (bitsOfSize & ((1 << mantissaBits) - 1)) / 2 ** mantissaBits;
  return exponent === 0 ? mantissa * 2 ** minExponent : (1 + mantissa) * 2 ** (exponent - 1 + minExponent);
}

const isNegative = (value: number) => value < 0 || Object.is(value, -0);

/** Largest finite E4M3 value (the FN kind: no infinities). */
export const E4M3_MAX = 448;

/** The byte of `value` as E4M3. */
export function toE4m3(value: number): number {
  return code(value, 3, -6, E4M3_MAX) | (isNegative(value) ? 0x80 : 0);
}

/** Codes 0x7f and 0xff (NaN) never leave `toE4m3`; they decode to +-480 here as in the vector form. */
export function fromE4m3(byte: number): number {
  const size = decode(byte & 0x7f, 3, -6);
  return byte & 0x80 ? -size : size;
}

const E2M1_MAX = 6;

/** The four bits of `value` as E2M1: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives. */
export function toE2m1(value: number): number {
  return code(value, 1, 0, E2M1_MAX) | (isNegative(value) ? 8 : 0);
}

export function fromE2m1(nibble: number): number {
  const size = decode(nibble & 7, 1, 0);
  return nibble & 8 ? -size : size;
}
