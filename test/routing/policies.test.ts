/**
 * What each policy promises beyond the common laws, on cases small enough to check by hand.
 */
import { maxVioFloor, maxVioOf, routingPolicies } from '@epsim/routing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  anyCase,
  batchOf,
  batchOfCase,
  contextOf,
  loadsOf,
  recordedBatch,
  routeSteps,
  skewedLogits,
} from './support.js';

/** Logits whose sigmoid is the given score. */
const logitsOf = (scores: number[][]) => Float32Array.from(scores.flat(), (s) => Math.log(s / (1 - s)));

describe('top-k', () => {
  test('gates are scores over their sum, scaled', () => {
    const batch = batchOf(logitsOf([[0.6, 0.2, 0.3, 0.1]]), 4);
    const [step] = routeSteps(routingPolicies['top-k'], contextOf(4, 2, { routedScaling: 2.5 }), batch, 1);
    expect([...step.experts]).toEqual([0, 2]);
    expect(step.weights[0]).toBeCloseTo((0.6 / 0.9) * 2.5, 6);
    expect(step.weights[1]).toBeCloseTo((0.3 / 0.9) * 2.5, 6);
  });

  test('a stored bias selects and does not weigh', () => {
    const batch = batchOf(logitsOf([[0.6, 0.2, 0.3, 0.1]]), 4);
    const initialBias = Float32Array.of(0, 0, -1, 1);
    const [step] = routeSteps(routingPolicies['top-k'], contextOf(4, 2, { initialBias }), batch, 1);
    expect([...step.experts]).toEqual([3, 0]);
    expect(step.weights[0]).toBeCloseTo(0.1 / 0.7, 6);
    expect(step.stats.scoreRetention).toBeCloseTo(0.7 / 0.9, 6);
    expect(step.stats.changedChoices).toBe(0.5);
    expect(step.bias).toEqual(initialBias);
  });

  test('softmax over the chosen logits is what gpt-oss and Mixtral compute', () => {
    const batch = batchOf(Float32Array.of(1, 3, 2, 0), 4);
    const context = contextOf(4, 2, { scoring: 'softmax-over-top-k', renormalize: false });
    const [step] = routeSteps(routingPolicies['top-k'], context, batch, 1);
    expect([...step.experts]).toEqual([1, 2]);
    expect(step.weights[0]).toBeCloseTo(Math.exp(3) / (Math.exp(3) + Math.exp(2)), 6);
  });

  test('a row that is not a number is refused', () => {
    const batch = batchOf(new Float32Array(4).fill(Number.NaN), 4);
    expect(() => routeSteps(routingPolicies['top-k'], contextOf(4, 2), batch, 1)).toThrow(RangeError);
  });
});

describe('sign-bias', () => {
  // Top-2 of four experts with loads 2, 3, 2, 1: mean 2.
  const scores = [
    [0.9, 0.8, 0.1, 0.1],
    [0.1, 0.8, 0.9, 0.1],
    [0.9, 0.8, 0.1, 0.1],
    [0.1, 0.1, 0.9, 0.8],
  ];

  test('one step moves loads above the mean down and below it up by 0.001', () => {
    const [step] = routeSteps(routingPolicies['sign-bias'], contextOf(4, 2), batchOf(logitsOf(scores), 4), 1);
    expect(loadsOf(step.experts, 4)).toEqual([2, 3, 2, 1]);
    expect(step.bias).toEqual(Float32Array.of(0, -0.001, 0, 0.001));
    expect(step.stats.biasDrift).toBeCloseTo(0.001, 9);
  });

  test('the magnitude form moves in proportion to the error', () => {
    const options = { form: 'magnitude', stepSize: 0.01 };
    const batch = batchOf(logitsOf(scores), 4);
    const [step] = routeSteps(routingPolicies['sign-bias'], contextOf(4, 2), batch, 1, options);
    expect(step.bias).toEqual(Float32Array.of(0, -0.005, 0, 0.005));
  });

  test('on a frozen batch it gets there slowly where quantile is there at once', () => {
    const batch = batchOf(skewedLogits(3, 2048, 32), 32);
    const vioAfter = (policy: 'sign-bias' | 'quantile', steps: number) => {
      const all = routeSteps(routingPolicies[policy], contextOf(32, 4), batch, steps);
      return maxVioOf(loadsOf(all[steps - 1].experts, 32));
    };
    expect(vioAfter('sign-bias', 20)).toBeGreaterThan(1);
    expect(vioAfter('quantile', 4)).toBeLessThan(0.2);
  });
});

describe('group-limited', () => {
  test('the group with the best pair wins over the group with the best expert', () => {
    const batch = batchOf(logitsOf([[0.9, 0.1, 0.6, 0.5]]), 4);
    const context = contextOf(4, 2, { groupCount: 2, topGroupCount: 1 });
    const [step] = routeSteps(routingPolicies['group-limited'], context, batch, 1);
    expect([...step.experts]).toEqual([2, 3]);
    expect(step.stats.scoreRetention).toBeCloseTo(1.1 / 1.5, 6);
  });

  test('no token uses more groups than it may, and all groups give plain top-k', () => {
    fc.assert(
      fc.property(anyCase, (c) => {
        const { context } = c;
        const { expertCount, groupCount, topGroupCount, topK } = context;
        const [step] = routeSteps(routingPolicies['group-limited'], context, batchOfCase(c), 1);
        const groupSize = expertCount / groupCount;
        for (let at = 0; at < step.experts.length; at += topK) {
          const groups = [...step.experts.slice(at, at + topK)].map((e) => Math.floor(e / groupSize));
          expect(new Set(groups).size).toBeLessThanOrEqual(topGroupCount);
        }
        const open = { topGroupCount: groupCount };
        const [all] = routeSteps(routingPolicies['group-limited'], context, batchOfCase(c), 1, open);
        const [plain] = routeSteps(routingPolicies['top-k'], context, batchOfCase(c), 1);
        expect(all.experts).toEqual(plain.experts);
      }),
      { numRuns: 60 },
    );
  });

  test('groups that cannot be are refused with the numbers', () => {
    const create = (options: object) => () =>
      routingPolicies['group-limited'].create(contextOf(12, 4), options);
    expect(create({ groupCount: 5 })).toThrow(
      'routing.groupCount: uneven groups: 12 experts in 5 groups; use a divisor of 12',
    );
    expect(create({ groupCount: 6, topGroupCount: 1 })).toThrow(
      'too few groups: 1 x 2 experts < top-4; use 2 to 6',
    );
    expect(create({ groupCount: 2, topGroupCount: 3 })).toThrow('too many groups: 3 of 2; use 1 to 2');
  });
});

describe('expert-choice', () => {
  test('each expert takes its best tokens; one token gets three experts and one gets none', () => {
    const scores = [
      [0.9, 0.9, 0.9],
      [0.8, 0.2, 0.3],
      [0.1, 0.1, 0.1],
      [0.2, 0.8, 0.4],
    ];
    const batch = batchOf(logitsOf(scores), 3);
    const [step] = routeSteps(routingPolicies['expert-choice'], contextOf(3, 1), batch, 1);
    // Four choices over three experts: two, one, one.
    expect(step.width).toBe(3);
    expect([...step.experts]).toEqual([0, 1, 2, 0, -1, -1, -1, -1, -1, -1, -1, -1]);
    expect(step.droppedChoices).toBe(0);
    // Plain top-1 takes 0.9 + 0.8 + 0.1 + 0.8; the first token's surplus does not count.
    expect(step.stats.scoreRetention).toBeCloseTo(1.7 / 2.6, 6);
  });

  test('loads are even to one choice, and nothing is dropped', () => {
    fc.assert(
      fc.property(anyCase, (c) => {
        const [step] = routeSteps(routingPolicies['expert-choice'], c.context, batchOfCase(c), 1);
        const loads = loadsOf(step.experts, c.context.expertCount);
        expect(Math.max(...loads) - Math.min(...loads)).toBeLessThanOrEqual(1);
        expect(step.stats.droppedChoices).toBe(0);
      }),
      { numRuns: 60 },
    );
  });
});

describe('capacity', () => {
  const scores = [
    [0.6, 0.2],
    [0.9, 0.1],
    [0.7, 0.3],
    [0.7, 0.1],
  ];
  const route = (options: object, topK = 1) =>
    routeSteps(routingPolicies.capacity, contextOf(2, topK), batchOf(logitsOf(scores), 2), 1, options)[0];

  test('by position the last rows lose; by score the lowest do, and of equals the later', () => {
    expect([...route({ factor: 1, drop: 'position' }).experts]).toEqual([0, 0, -1, -1]);
    expect([...route({ factor: 1, drop: 'score' }).experts]).toEqual([-1, 0, 0, -1]);
    expect(route({ factor: 1, drop: 'score' }).stats).toMatchObject({ droppedChoices: 2, changedChoices: 0 });
    expect(route({ factor: 1, drop: 'score' }).stats.scoreRetention).toBeCloseTo(1.6 / 2.9, 6);
  });

  test('a gate keeps its value when the other expert of its token is dropped', () => {
    const step = route({ factor: 0.5, drop: 'score' }, 2);
    expect([...step.experts]).toEqual([-1, 1, 0, -1, 0, 1, -1, -1]);
    expect(step.weights[1]).toBeCloseTo(0.2 / 0.8, 6);
    expect(step.weights[2]).toBeCloseTo(0.9, 6);
  });

  test('no expert exceeds its capacity, and with room for all it is plain top-k', () => {
    fc.assert(
      fc.property(anyCase, fc.double({ min: 0.1, max: 2, noNaN: true }), (c, factor) => {
        const { expertCount, topK } = c.context;
        const tokens = c.logits.length / expertCount;
        const limit = Math.ceil((factor * tokens * topK) / expertCount);
        for (const drop of ['score', 'position']) {
          const options = { factor, drop };
          const [step] = routeSteps(routingPolicies.capacity, c.context, batchOfCase(c), 1, options);
          expect(Math.max(0, ...loadsOf(step.experts, expertCount))).toBeLessThanOrEqual(limit);
          const open = { factor: expertCount, drop };
          const [all] = routeSteps(routingPolicies.capacity, c.context, batchOfCase(c), 1, open);
          const [plain] = routeSteps(routingPolicies['top-k'], c.context, batchOfCase(c), 1);
          expect(all.experts).toEqual(plain.experts);
          expect(all.weights).toEqual(plain.weights);
        }
      }),
      { numRuns: 40 },
    );
  });
});

describe('what an expert keeps when scores are equal', () => {
  /** Logits on a grid of four values tie all the time; favourites make some experts overflow. */
  const tied = fc.record({
    tokens: fc.integer({ min: 1, max: 40 }),
    expertCount: fc.integer({ min: 2, max: 5 }),
    values: fc.infiniteStream(fc.integer({ min: 0, max: 3 })),
  });

  /** Rows that expert `e` keeps of those offered: the best `limit`, of equals the earlier. */
  const best = (rows: number[], scoreOf: (row: number) => number, limit: number) =>
    rows
      .toSorted((a, b) => scoreOf(b) - scoreOf(a) || a - b)
      .slice(0, limit)
      .toSorted((a, b) => a - b);

  test('are the earlier rows, in expert-choice and in capacity', () => {
    fc.assert(
      fc.property(tied, ({ tokens, expertCount, values }) => {
        const logits = Float32Array.from(
          { length: tokens * expertCount },
          () => values.next().value as number,
        );
        const context = contextOf(expertCount, 1);
        const rows = Array.from({ length: tokens }, (_, row) => row);
        const keptRows = (step: { experts: Int32Array; width: number }, e: number) =>
          rows.filter((row) => step.experts.slice(row * step.width, (row + 1) * step.width).includes(e));
        const batch = batchOf(logits, expertCount);
        const [choice] = routeSteps(routingPolicies['expert-choice'], context, batch, 1);
        const [plain] = routeSteps(routingPolicies['top-k'], context, batch, 1);
        const [capped] = routeSteps(routingPolicies.capacity, context, batch, 1, { factor: 1 });
        for (let e = 0; e < expertCount; e++) {
          const scoreOf = (row: number) => logits[row * expertCount + e];
          const share = Math.floor(tokens / expertCount) + (e < tokens % expertCount ? 1 : 0);
          expect(keptRows(choice, e)).toEqual(best(rows, scoreOf, share));
          const limit = Math.ceil(tokens / expertCount);
          expect(keptRows(capped, e)).toEqual(best(keptRows(plain, e), scoreOf, limit));
        }
      }),
    );
  });
});

describe('hash and random-uniform', () => {
  test('hash gives equal tokens equal experts in every step, and different tokens different ones', () => {
    const one = skewedLogits(1, 1, 64);
    const other = skewedLogits(2, 1, 64);
    const batch = batchOf(Float32Array.from([...one, ...other, ...one]), 64);
    const [first, second] = routeSteps(routingPolicies.hash, contextOf(64, 4), batch, 2);
    expect(first.experts.slice(0, 4)).toEqual(first.experts.slice(8, 12));
    expect(first.experts.slice(0, 4)).not.toEqual(first.experts.slice(4, 8));
    expect(second.experts).toEqual(first.experts);
  });

  test('random-uniform draws anew in each step and layer', () => {
    const batch = batchOf(skewedLogits(1, 16, 64), 64);
    const [first, second] = routeSteps(routingPolicies['random-uniform'], contextOf(64, 4), batch, 2);
    const [other] = routeSteps(routingPolicies['random-uniform'], contextOf(64, 4, { layer: 1 }), batch, 1);
    expect(second.experts).not.toEqual(first.experts);
    expect(other.experts).not.toEqual(first.experts);
  });

  test.each(['hash', 'random-uniform'] as const)(
    '%s loads look like chance: near the sampling floor',
    (name) => {
      const [tokens, expertCount, topK] = [8192, 32, 4];
      const batch = batchOf(skewedLogits(9, tokens, expertCount), expertCount);
      const [step] = routeSteps(routingPolicies[name], contextOf(expertCount, topK), batch, 1);
      const floor = maxVioFloor(expertCount, (tokens * topK) / expertCount);
      const vio = maxVioOf(loadsOf(step.experts, expertCount));
      expect(vio).toBeGreaterThan(0.2 * floor);
      expect(vio).toBeLessThan(1.6 * floor);
    },
  );
});

describe('sinkhorn', () => {
  test('it balances a skewed batch within the same step, for much less than random gives up', () => {
    const batch = batchOf(skewedLogits(4, 2048, 32), 32);
    const [plain, balanced, random] = (['top-k', 'sinkhorn', 'random-uniform'] as const).map(
      (name) => routeSteps(routingPolicies[name], contextOf(32, 4), batch, 1)[0],
    );
    const vio = (step: { experts: Int32Array }) => maxVioOf(loadsOf(step.experts, 32));
    expect(vio(balanced)).toBeLessThan(vio(plain) / 5);
    expect(balanced.stats.scoreRetention).toBeGreaterThan(random.stats.scoreRetention + 0.1);
  });

  test('one expert that all prefer by the same margin loses it', () => {
    const even = skewedLogits(4, 256, 8, 0);
    const shifted = even.map((z, i) => (i % 8 === 3 ? z + 2 : z));
    const options = { iterations: 50 };
    const [a] = routeSteps(routingPolicies.sinkhorn, contextOf(8, 2), batchOf(even, 8), 1, options);
    const [b] = routeSteps(routingPolicies.sinkhorn, contextOf(8, 2), batchOf(shifted, 8), 1, options);
    expect(b.experts).toEqual(a.experts);
  });
});

describe('recorded', () => {
  const choices = [0, 1, 0, 2, 1, 3, 0, 3, 2, 3, -1, -1, -1, -1, -1, -1];
  const context = contextOf(4, 2, { rankCount: 2 });

  test('padding of -1 is counted apart and never wraps to the last expert', () => {
    const [step] = routeSteps(routingPolicies.recorded, context, recordedBatch(choices, 2, 4, [0, 4, 8]), 1);
    expect([...step.experts]).toEqual(choices);
    expect(loadsOf(step.experts, 4)).toEqual([3, 2, 2, 3]);
    expect(step.paddedTokens).toBe(3);
    expect(step.stats.droppedChoices).toBe(0);
    expect(step.droppedChoices).toBe(6);
  });

  test('padding of a trace stays padding when another policy routes its tokens', () => {
    const batch = recordedBatch(choices, 2, 4, [0, 4, 8]);
    const [step] = routeSteps(routingPolicies['top-k'], context, batch, 1);
    // Equal scores go to experts 0 and 1; eight tokens would make it 8 and 8.
    expect(loadsOf(step.experts, 4)).toEqual([5, 5, 0, 0]);
    expect(step.paddedTokens).toBe(3);
  });

  test('gates follow the logits, and are equal where the trace has none', () => {
    const logits = logitsOf(Array.from({ length: 8 }, () => [0.6, 0.2, 0.3, 0.1]));
    const withScores = recordedBatch(choices, 2, 4, [0, 4, 8], logits);
    const [scored] = routeSteps(routingPolicies.recorded, context, withScores, 1);
    expect(scored.weights[0]).toBeCloseTo(0.75, 6);
    expect(scored.stats.scoreRetention).toBeCloseTo((0.8 + 0.9 + 0.3 + 0.7 + 0.4) / 4.5, 6);
    const without = recordedBatch(
      choices,
      2,
      4,
      [0, 4, 8],
      logits.map(() => Number.NaN),
    );
    const [blind] = routeSteps(routingPolicies.recorded, context, without, 1);
    expect([...blind.weights.slice(0, 10)]).toEqual(new Array(10).fill(0.5));
    expect([...blind.weights.slice(10)]).toEqual(new Array(6).fill(0));
    expect(blind.stats.scoreRetention).toBeNaN();
  });

  test('a batch without choices, an id beyond the experts and a stale doubled row are refused with the place', () => {
    const route = (batch: Parameters<typeof routeSteps>[2]) => () =>
      routeSteps(routingPolicies.recorded, context, batch, 1);
    expect(route(batchOf(new Float32Array(32), 4, [0, 4, 8]))).toThrow(
      'routing.policy: missing recorded choices',
    );
    const bad = (at: number, id: number) => recordedBatch(choices.with(at, id), 2, 4, [0, 4, 8]);
    expect(route(bad(9, 4))).toThrow('workload: unknown recorded expert: rank 1 row 0: 4 of 4');
    expect(route(bad(3, -2))).toThrow('rank 0 row 1: -2 of 4');
    const stale = recordedBatch(choices.with(14, 0).with(15, 0), 2, 4, [0, 4, 8]);
    expect(route(stale)).toThrow('repeated recorded expert: rank 1 row 3: 0 twice');
  });
});
