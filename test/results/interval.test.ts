import { meanInterval } from '@epsim/results';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

describe('a mean with its interval', () => {
  test('five values come out as in a table of Student t', () => {
    // Standard deviation of 1..5 is 1.5811, t for 4 degrees of freedom 2.776: 3 +- 1.9629.
    const { mean, ci95 } = meanInterval([1, 2, 3, 4, 5]);
    expect(mean).toBe(3);
    expect(ci95?.[0]).toBeCloseTo(1.0371, 3);
    expect(ci95?.[1]).toBeCloseTo(4.9629, 3);
  });

  test('beyond the table the quantile goes on: 2.0003 for 60 degrees of freedom', () => {
    const values = Array.from({ length: 61 }, (_, i) => i);
    const deviation = Math.sqrt(values.reduce((sum, v) => sum + (v - 30) ** 2, 0) / 60 / 61);
    const { ci95 } = meanInterval(values);
    expect(((ci95?.[1] ?? 0) - 30) / deviation).toBeCloseTo(2.0003, 3);
  });

  test('one value has no interval, and none is refused', () => {
    expect(meanInterval([7])).toEqual({ mean: 7, ci95: null });
    expect(() => meanInterval([])).toThrow(RangeError);
  });

  test('the interval holds the mean, moves with the values and scales with them', () => {
    const values = fc.array(fc.double({ min: -1e3, max: 1e3, noNaN: true }), { minLength: 2, maxLength: 40 });
    fc.assert(
      fc.property(values, fc.double({ min: -100, max: 100, noNaN: true }), (some, shift) => {
        const [low, high] = meanInterval(some).ci95 ?? [0, 0];
        const moved = meanInterval(some.map((value) => 2 * value + shift)).ci95 ?? [0, 0];
        expect(low).toBeLessThanOrEqual(high);
        expect(moved[0]).toBeCloseTo(2 * low + shift, 6);
        expect(moved[1]).toBeCloseTo(2 * high + shift, 6);
      }),
    );
  });
});
