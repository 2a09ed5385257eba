import { loadMeasures } from '@epsim/results';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const loads = fc.array(fc.nat(1000), { minLength: 1, maxLength: 60 });

describe('measures of a load', () => {
  test('a layer with 100 and 200 is 0.75, 1.3333 and 0.3333 in the three definitions', () => {
    const measures = loadMeasures([100, 200]);
    expect(measures.meanOverMax).toBe(0.75);
    expect(measures.maxOverMean).toBeCloseTo(4 / 3, 12);
    expect(measures.maxMinusMeanOverMean).toBeCloseTo(1 / 3, 12);
  });

  test('known values of the other measures', () => {
    const measures = loadMeasures([0, 0, 0, 8]);
    expect(measures).toMatchObject({ min: 0, mean: 2, max: 8, gini: 0.75, entropy: 0, zeroCount: 3 });
    expect(measures.cv).toBeCloseTo(Math.sqrt(3), 12);
    expect(loadMeasures([1, 1, 2, 0]).entropy).toBeCloseTo((1.5 * Math.log(2)) / Math.log(4), 12);
  });

  test('no load at all is even and never NaN', () => {
    const even = { maxOverMean: 1, meanOverMax: 1, maxMinusMeanOverMean: 0, cv: 0, gini: 0, entropy: 1 };
    expect(loadMeasures(new Int32Array(5))).toEqual({ min: 0, mean: 0, max: 0, ...even, zeroCount: 5 });
    expect(loadMeasures([7])).toEqual({ min: 7, mean: 7, max: 7, ...even, zeroCount: 0 });
  });

  test('the three definitions of imbalance say the same thing', () => {
    fc.assert(
      fc.property(loads, (load) => {
        const { maxOverMean, meanOverMax, maxMinusMeanOverMean } = loadMeasures(load);
        expect(maxOverMean * meanOverMax).toBeCloseTo(1, 12);
        expect(maxMinusMeanOverMean).toBeCloseTo(maxOverMean - 1, 9);
      }),
    );
  });

  test('every measure is finite, within its range, and blind to order and scale', () => {
    fc.assert(
      fc.property(loads, fc.integer({ min: 1, max: 9 }), (load, scale) => {
        const measures = loadMeasures(load);
        for (const value of Object.values(measures)) expect(Number.isFinite(value)).toBe(true);
        for (const share of [measures.gini, measures.entropy, measures.meanOverMax]) {
          expect(share).toBeGreaterThanOrEqual(0);
          expect(share).toBeLessThanOrEqual(1 + 1e-12);
        }
        const scaled = loadMeasures(load.map((x) => x * scale).reverse());
        for (const key of ['maxOverMean', 'cv', 'gini', 'entropy'] as const) {
          expect(scaled[key]).toBeCloseTo(measures[key], 9);
        }
      }),
    );
  });

  test('the Gini coefficient is the mean absolute difference over twice the mean', () => {
    fc.assert(
      fc.property(loads, (load) => {
        const sum = load.reduce((a, b) => a + b, 0);
        fc.pre(sum > 0);
        let differences = 0;
        for (const a of load) for (const b of load) differences += Math.abs(a - b);
        expect(loadMeasures(load).gini).toBeCloseTo(differences / (2 * load.length * sum), 9);
      }),
    );
  });

  test('a load that is none is refused with its place', () => {
    expect(() => loadMeasures([])).toThrow(/shape \[0\]/);
    expect(() => loadMeasures([1, -1])).toThrow(/loads\[1\] of shape \[2\] is -1/);
    expect(() => loadMeasures([Number.NaN])).toThrow(RangeError);
  });
});
