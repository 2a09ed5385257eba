import { bufferSizes, createBalancer, netBenefit, receivedRows } from '@epsim/placement';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sum } from './shapes.js';

describe('a balancer', () => {
  const base = { everySteps: 10, windowSteps: 4, staleSteps: 2, layerCount: 1, expertCount: 1 };

  /** Which steps the loads for `due` were summed from, when step s has the load 2^s. */
  function stepsSeen(options: typeof base, due: number): number[] {
    const balancer = createBalancer(options);
    for (let step = 0; step < due; step++) balancer.observe(step, 0, [2 ** step]);
    const loads = balancer.loadsFor(due, 0);
    if (!loads) return [];
    return Array.from({ length: due }, (_, step) => step).filter(
      (step) => Math.floor(loads[0] / 2 ** step) % 2 === 1,
    );
  }

  test('asks on its interval, by a window that ended some steps ago', () => {
    expect(stepsSeen(base, 10)).toEqual([4, 5, 6, 7]);
    expect(stepsSeen(base, 20)).toEqual([14, 15, 16, 17]);
    expect(stepsSeen(base, 15)).toEqual([]);
    expect(stepsSeen({ ...base, staleSteps: 0, windowSteps: 100 }, 10)).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
    ]);
  });

  test('never asks before the first statistics, with interval 0, or when all it could know is stale', () => {
    expect(createBalancer(base).loadsFor(0, 0)).toBeNull();
    expect(stepsSeen({ ...base, everySteps: 0 }, 10)).toEqual([]);
    expect(stepsSeen({ ...base, staleSteps: 10 }, 10)).toEqual([]);
  });

  test('the window is exactly the steps that its dates say', () => {
    const options = fc.record({
      everySteps: fc.integer({ min: 1, max: 9 }),
      windowSteps: fc.integer({ min: 1, max: 20 }),
      staleSteps: fc.integer({ min: 0, max: 12 }),
      layerCount: fc.constant(1),
      expertCount: fc.constant(1),
    });
    fc.assert(
      fc.property(options, fc.integer({ min: 1, max: 5 }), (some, nth) => {
        const due = nth * some.everySteps;
        const end = due - some.staleSteps;
        const expected = [];
        for (let step = Math.max(0, end - some.windowSteps); step < end; step++) expected.push(step);
        expect(stepsSeen(some, due)).toEqual(expected);
      }),
    );
  });

  test('keeps layers and experts apart', () => {
    const balancer = createBalancer({ ...base, everySteps: 2, staleSteps: 0, layerCount: 2, expertCount: 2 });
    balancer.observe(0, 0, [1, 2]);
    balancer.observe(0, 1, [3, 4]);
    balancer.observe(1, 0, [10, 20]);
    expect([...(balancer.loadsFor(2, 0) ?? [])]).toEqual([11, 22]);
    expect([...(balancer.loadsFor(2, 1) ?? [])]).toEqual([3, 4]);
    expect(() => balancer.observe(1, 2, [1, 1])).toThrow(
      'observed layer 2 with 2 experts, expected 2 layers of 2',
    );
  });

  test('refuses a window of no steps', () => {
    expect(() => createBalancer({ ...base, windowSteps: 0 })).toThrow(
      new RangeError('windowSteps must be a whole number >= 1, not 0'),
    );
  });
});

describe('net benefit', () => {
  test('says what an interval saves and costs', () => {
    const result = netBenefit(1000, 959, 18_000, 3000);
    expect(result.sentence).toBe('rebalancing every 3,000 steps saves 4.1 % and costs 0.6 %');
    expect(result.breakEvenSteps).toBe(440);
  });

  test('says below which interval it does not pay', () => {
    expect(netBenefit(1000, 959, 46_494_000, 500).sentence).toBe(
      'rebalancing every 500 steps saves 4.1 % and costs 9298.8 %: it does not pay below 1,134,000 steps',
    );
    expect(netBenefit(1000, 990, 40).sentence).toBe(
      'rebalancing saves 1.0 % of a step and pays from 4 steps between moves',
    );
  });

  test('says when it never pays', () => {
    expect(netBenefit(1000, 1032, 5, 100)).toMatchObject({
      breakEvenSteps: null,
      sentence: 'rebalancing does not pay: a step takes 3.2 % longer after it',
    });
    expect(netBenefit(1000, 1000, 5).sentence).toBe('rebalancing does not pay: a step is no faster after it');
  });

  test('break-even is the first interval whose savings cover the move', () => {
    const time = fc.integer({ min: 1, max: 1e6 });
    fc.assert(
      fc.property(time, time, fc.nat({ max: 1e9 }), (before, after, move) => {
        const { breakEvenSteps: steps } = netBenefit(before, after, move);
        expect(steps === null).toBe(after >= before);
        if (steps === null) return;
        expect(steps * (before - after)).toBeGreaterThanOrEqual(move);
        if (steps > 1) expect((steps - 1) * (before - after)).toBeLessThan(move);
      }),
    );
  });

  test('refuses times that are none', () => {
    expect(() => netBenefit(0, 1, 1)).toThrow(RangeError);
    expect(() => netBenefit(1, 1, 1, 0)).toThrow(RangeError);
  });
});

describe('receive buffers', () => {
  test('rows that stay on a rank need no buffer', () => {
    expect([...receivedRows([9, 1, 2, 3, 9, 4, 5, 6, 9], 3)]).toEqual([8, 7, 6]);
    expect(() => receivedRows([1, 2], 3)).toThrow(
      new RangeError('rowsPerPair has 2 entries, expected [3 x 3]'),
    );
  });

  test('a quantile is a count that was seen, of the rank that was fullest', () => {
    const steps = Array.from({ length: 100 }, (_, i) => [i + 1, 101 - (i + 1)]);
    const sizes = bufferSizes(steps, [0.5, 0.99, 1]);
    expect(sizes.map((size) => size.rows)).toEqual([75, 100, 100]);
    expect(sizes[0].rowsByRank).toEqual([50, 50]);
    expect(sizes[2].rowsByRank).toEqual([100, 100]);
  });

  test('it holds in at least the share of steps that it promises', () => {
    const steps = fc.integer({ min: 1, max: 4 }).chain((ranks) =>
      fc.array(fc.array(fc.nat({ max: 30 }), { minLength: ranks, maxLength: ranks }), {
        minLength: 1,
        maxLength: 40,
      }),
    );
    fc.assert(
      fc.property(steps, fc.constantFrom(0, 0.1, 0.5, 0.9, 0.99, 1), (rows, quantile) => {
        const [{ rows: size }] = bufferSizes(rows, [quantile]);
        const covered = sum(rows.map((step) => (Math.max(...step) <= size ? 1 : 0)));
        expect(covered).toBeGreaterThanOrEqual(quantile * rows.length - 1e-9);
        const less = sum(rows.map((step) => (Math.max(...step) < size ? 1 : 0)));
        expect(less).toBeLessThan(Math.max(1, quantile * rows.length));
      }),
    );
  });

  test('needs steps and quantiles in range', () => {
    expect(() => bufferSizes([])).toThrow(new RangeError('buffer sizes: no steps observed'));
    expect(() => bufferSizes([[1]], [1.5])).toThrow(new RangeError('quantile must be from 0 to 1, not 1.5'));
  });
});
