import { type Glu, gluAt, gluNaive, sigmoidNaive } from '@epsim/tensor';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anySeed, bench, someFloats } from './support.js';

const K3: Glu = { kind: 'situ', gateBound: 4, upBound: 25 };
const KINDS: readonly Glu[] = [K3, { kind: 'swiglu' }, { kind: 'situ', gateBound: 4, upBound: null }];

/** SiTU-GLU with bounds 4 and 25, and SwiGLU beside it. */
const GOLDEN = [
  [1, 1, 0.715818, 0.731059],
  [2, 3, 4.861067, 5.284782],
  [4, 4, 11.865258, 15.712221],
  [-1, 2, -0.525829, -0.537883],
  [8, 8, 29.827315, 63.978538],
  [20, 50, 96.394005, 1000],
  [100, 200, 99.999977, 20000],
] as const;

test.each(GOLDEN)('gate %d and up %d give %d bounded and %d unbounded', (gate, up, situ, swiglu) => {
  expect(gluAt(K3, gate, up)).toBeCloseTo(situ, 6);
  expect(Math.abs(gluAt({ kind: 'swiglu' }, gate, up) - swiglu)).toBeLessThan(1e-6 * Math.max(1, swiglu));
});

for (const glu of KINDS) {
  test(`the vector form of ${JSON.stringify(glu)} is within 2e-6 of the plain form, element by element`, () => {
    fc.assert(
      fc.property(
        anySeed(),
        fc.constantFrom(0.01, 1, 10, 80),
        fc.integer({ min: 1, max: 37 }),
        (seed, size, width) => {
          const { kernel, arena, put, floats } = bench(1 << 16);
          const [gate, up] = [someFloats(3 * width, seed, size), someFloats(3 * width, seed + 1, size)];
          const out = arena.alloc(3 * width * 4);
          kernel.glu(glu, { gate: put(gate), up: put(up), out, rows: 3, width });
          const expected = new Float32Array(3 * width);
          gluNaive(glu, gate, up, expected);
          floats(out, 3 * width).forEach((value, i) => {
            expect(Math.abs(value - expected[i])).toBeLessThanOrEqual(2e-6 * Math.abs(expected[i]) + 1e-36);
          });
        },
      ),
      { numRuns: 60 },
    );
  });
}

test('gate and up may be two halves of the same rows, and the result may replace the gate', () => {
  const { kernel, put, floats, arena } = bench(1 << 16);
  const rows = someFloats(4 * 20, 3, 5);
  const joined = put(rows);
  const apart = arena.alloc(4 * 10 * 4);
  kernel.glu(K3, { gate: joined, up: joined + 40, out: apart, rows: 4, width: 10, inStride: 20 });
  kernel.glu(K3, {
    gate: joined,
    up: joined + 40,
    out: joined,
    rows: 4,
    width: 10,
    inStride: 20,
    outStride: 20,
  });
  for (let row = 0; row < 4; row++) {
    expect(floats(joined + row * 80, 10)).toEqual(floats(apart + row * 40, 10));
    expect(floats(joined + row * 80 + 40, 10)).toEqual(rows.subarray(row * 20 + 10, row * 20 + 20));
  }
});

test('bounds that are not above zero are refused', () => {
  const { kernel } = bench(1 << 16);
  const call = { gate: 0, up: 64, out: 128, rows: 1, width: 4 };
  expect(() => kernel.glu({ kind: 'situ', gateBound: 0, upBound: 25 }, call)).toThrow(RangeError);
  expect(() => kernel.glu({ kind: 'situ', gateBound: 4, upBound: -1 }, call)).toThrow(RangeError);
});

test('the vector sigmoid is within 1e-6 of the plain one from -87 to 87, and stays in [0, 1] beyond', () => {
  const { kernel, put, floats, arena } = bench(1 << 20);
  const x = Float32Array.from({ length: 5003 }, (_, i) => (i - 2501) / 28.8);
  const out = arena.alloc(x.byteLength);
  kernel.sigmoid(put(x), out, x.length);
  const expected = new Float32Array(x.length);
  sigmoidNaive(x, expected);
  floats(out, x.length).forEach((value, i) => {
    expect(Math.abs(value / expected[i] - 1)).toBeLessThan(1e-6);
  });
  const far = put(Float32Array.of(-1e30, -200, 200, 1e30, Number.NEGATIVE_INFINITY));
  kernel.sigmoid(far, far, 5);
  expect(Array.from(floats(far, 5), (value) => Math.round(value))).toEqual([0, 0, 1, 1, 0]);
});
