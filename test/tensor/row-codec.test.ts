import {
  decodeRowNaive,
  encodeRowNaive,
  fromE2m1,
  fromE4m3,
  ROW_FORMATS,
  type RowFormat,
  rowBytes,
  toBf16,
  toE2m1,
  toE4m3,
} from '@epsim/tensor';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anySeed, bench, someFloats } from './support.js';

/** Nearest of `codes` by search; of two equally near the one with the even code. */
function nearest(value: number, decode: (code: number) => number, codes: number): number {
  let best = 0;
  for (let code = 1; code < codes; code++) {
    const [a, b] = [Math.abs(decode(code) - value), Math.abs(decode(best) - value)];
    if (a < b || (a === b && code % 2 === 0)) best = code;
  }
  return best;
}

test('a 3584-wide latent is 7168 bytes in BF16 and 3696 in FP8 and MXFP8', () => {
  expect(ROW_FORMATS.map((format) => rowBytes(format, 3584))).toEqual([14336, 7168, 3696, 3696, 1904]);
  expect(ROW_FORMATS.map((format) => rowBytes(format, 33))).toEqual([132, 66, 37, 35, 19]);
});

test('E4M3 and E2M1 codes are the nearest representable values, ties to even', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 600, noNaN: true }), fc.integer({ min: 0, max: 14 }), (x, shift) => {
      const value = x / 2 ** shift;
      expect(toE4m3(value)).toBe(nearest(value, fromE4m3, 127));
      expect(toE4m3(-value)).toBe(nearest(value, fromE4m3, 127) | 0x80);
      expect(toE2m1(value)).toBe(nearest(value, fromE2m1, 8));
    }),
    { numRuns: 500 },
  );
  expect(Array.from({ length: 8 }, (_, code) => fromE2m1(code))).toEqual([0, 0.5, 1, 1.5, 2, 3, 4, 6]);
});

test('every E4M3 and BF16 code survives decoding and encoding', () => {
  for (let code = 0; code < 127; code++) expect(toE4m3(fromE4m3(code))).toBe(code);
  const word = new Float32Array(1);
  for (let code = 0; code < 0x7f80; code += 7) {
    new Uint32Array(word.buffer)[0] = code << 16;
    expect(toBf16(word[0])).toBe(code);
  }
});

/** Largest error of an element over the largest size in its block. */
const ERROR: Readonly<Record<RowFormat, number>> = {
  fp32: 0,
  bf16: 2 ** -8,
  fp8: 2 ** -4,
  // A power-of-two scale leaves the largest element up to 511/256 of the format's own top power: saturation.
  mxfp8: 0.125,
  mxfp4: 0.25,
};

const anyRows = () =>
  fc.record({
    width: fc.integer({ min: 1, max: 300 }),
    rows: fc.integer({ min: 1, max: 3 }),
    seed: anySeed(),
    size: fc.constantFrom(1e-30, 1e-3, 1, 448, 1e6),
  });

for (const format of ROW_FORMATS) {
  test(`${format}: the vector form writes the bytes of the plain form and reads them back alike`, () => {
    fc.assert(
      fc.property(anyRows(), ({ width, rows, seed, size }) => {
        const { kernel, arena, put, floats } = bench(1 << 17);
        const x = someFloats(rows * width, seed, size);
        for (let i = 0; i < x.length; i += 5) x[i] *= 2 ** -((i * 7) % 12);
        x.fill(0, 0, width > 64 ? 40 : 0);
        const wide = rowBytes(format, width);
        const bytes = arena.alloc(rows * wide);
        kernel.encodeRows(format, put(x), bytes, rows, width);
        const plain = new Uint8Array(rows * wide);
        const back = new Float32Array(rows * width);
        for (let row = 0; row < rows; row++) {
          const view = new DataView(plain.buffer, row * wide, wide);
          encodeRowNaive(format, x.subarray(row * width, (row + 1) * width), view);
          decodeRowNaive(format, view, back.subarray(row * width, (row + 1) * width));
        }
        expect(new Uint8Array(kernel.memory.buffer, bytes, rows * wide)).toEqual(plain);
        const decoded = arena.alloc(x.byteLength);
        kernel.decodeRows(format, bytes, decoded, rows, width);
        expect(floats(decoded, x.length)).toEqual(back);
        const top = x.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
        expect(x.every((value, i) => Math.abs(back[i] - value) <= ERROR[format] * top)).toBe(true);
      }),
      { numRuns: 40 },
    );
  });

  test(`${format}: a decoded row encodes to a row that decodes to itself`, () => {
    const x = someFloats(200, 4, 10);
    const bytes = new DataView(new ArrayBuffer(rowBytes(format, 200)));
    const [once, twice] = [new Float32Array(200), new Float32Array(200)];
    encodeRowNaive(format, x, bytes);
    decodeRowNaive(format, bytes, once);
    const again = new DataView(new ArrayBuffer(rowBytes(format, 200)));
    encodeRowNaive(format, once, again);
    decodeRowNaive(format, again, twice);
    expect(once.every((value, i) => Math.abs(twice[i] - value) <= 1e-6 * Math.abs(value))).toBe(true);
  });
}
