import { backgroundNs } from '@epsim/engine';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const ns = fc.double({ min: 0, max: 1e9, noNaN: true });

describe('a move in the background', () => {
  test('costs something as soon as steps use the network, and never more than one that blocks', () => {
    fc.assert(
      fc.property(
        ns,
        ns,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 1, max: 1e4 }),
        (move, step, share, steps) => {
          const cost = backgroundNs(move, step, share * step, steps);
          expect(cost).toBeGreaterThanOrEqual(0);
          expect(cost).toBeLessThanOrEqual(move * (1 + 1e-9));
          expect(backgroundNs(move, step, share * step, steps + 1)).toBeLessThanOrEqual(
            cost * (1 + 1e-9) + 1e-6,
          );
        },
      ),
    );
  });

  test('that fits meets exchanges for their share of the time', () => {
    expect(backgroundNs(1000, 100, 25, 20)).toBe(250);
    expect(backgroundNs(1000, 100, 0, 20)).toBe(0);
  });

  test('that does not fit is waited for', () => {
    expect(backgroundNs(1000, 100, 25, 4)).toBe(400 * 0.25 + 600);
  });
});
