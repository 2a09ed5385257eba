import {
  choicesPerRank,
  expectedDistinctRanks,
  planDispatch,
  sliceRouting,
  slotsByExpert,
} from '@epsim/engine';
import { NO_EXPERT } from '@epsim/spec';
import { rowBytes } from '@epsim/tensor';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type SmallShape, somePlacement, someRouting } from '../support/routings.js';

const anyShape = (): fc.Arbitrary<SmallShape> =>
  fc
    .record({
      rankCount: fc.integer({ min: 1, max: 9 }),
      tokensPerRank: fc.integer({ min: 0, max: 12 }),
      expertCount: fc.integer({ min: 1, max: 30 }),
      topK: fc.integer({ min: 1, max: 6 }),
      seed: fc.nat(),
    })
    .map((s) => ({ ...s, expertCount: Math.max(s.expertCount, s.topK) }));
const options = { replica: 'round-robin', domainRanks: 4, dispatchRowBytes: 10, combineRowBytes: 7 } as const;
const sum = (a: ArrayLike<number>) => Array.from(a).reduce((x, y) => x + y, 0);

describe('a dispatch plan', () => {
  test('counts every choice once by slot, by rank and by pair, whatever is replicated or dropped (law 1)', () => {
    fc.assert(
      fc.property(
        anyShape(),
        fc.nat({ max: 3 }),
        fc.constantFrom('round-robin', 'nearest'),
        (shape, spare, replica) => {
          const routing = someRouting(shape, true);
          const placement = somePlacement(shape, spare);
          const plan = planDispatch(routing, placement, { ...options, kind: 'per-rank', replica });
          const made = routing.experts.filter((e) => e !== NO_EXPERT).length;
          expect(sum(plan.tokensPerSlot)).toBe(made);
          expect(sum(plan.choicesPerPair)).toBe(made);
          expect(sum(choicesPerRank(plan))).toBe(made);
          expect(made + routing.droppedChoices).toBe(routing.experts.length);
          plan.slotOfChoice.forEach((slot, i) => {
            expect(slot === NO_EXPERT ? NO_EXPERT : placement.slotExpert[slot]).toBe(routing.experts[i]);
          });
        },
      ),
    );
  });

  test('sends a row at most once per choice and at least once per rank that needs it', () => {
    fc.assert(
      fc.property(anyShape(), (shape) => {
        const routing = someRouting(shape);
        const placement = somePlacement(shape, 1);
        const perRank = planDispatch(routing, placement, { ...options, kind: 'per-rank' });
        const { rankOfSlot } = slotsByExpert(placement);
        const needed = new Map<string, Set<number>>();
        perRank.slotOfChoice.forEach((slot, i) => {
          const token = Math.floor(i / routing.width);
          const from = routing.tokenOffsets.findLastIndex((first) => first <= token);
          const key = `${Math.min(from, shape.rankCount - 1)},${rankOfSlot[slot]}`;
          needed.set(key, (needed.get(key) ?? new Set()).add(token));
        });
        for (let from = 0; from < shape.rankCount; from++) {
          for (let to = 0; to < shape.rankCount; to++) {
            expect(perRank.rowsPerPair[from * shape.rankCount + to]).toBe(
              needed.get(`${from},${to}`)?.size ?? 0,
            );
          }
        }
        const perExpert = planDispatch(routing, placement, { ...options, kind: 'per-expert' });
        expect(perExpert.rowsPerPair).toEqual(perExpert.choicesPerPair);
        expect(sum(perExpert.dispatchBytes)).toBe(10 * sum(perExpert.rowsPerPair));
        expect(sum(perRank.combineBytes)).toBe(7 * sum(perRank.rowsPerPair));
      }),
    );
  });

  test('per node, a row enters each other node once and reaches every rank that needs it', () => {
    fc.assert(
      fc.property(anyShape(), (shape) => {
        const routing = someRouting(shape);
        const placement = somePlacement(shape);
        const node = (rank: number) => Math.floor(rank / options.domainRanks);
        const perRank = planDispatch(routing, placement, { ...options, kind: 'per-rank' });
        const perNode = planDispatch(routing, placement, { ...options, kind: 'per-node' });
        const { rankOfSlot } = slotsByExpert(placement);
        const crossings = new Set<string>();
        perRank.slotOfChoice.forEach((slot, i) => {
          const token = Math.floor(i / routing.width);
          const from = Math.floor(token / shape.tokensPerRank);
          if (node(rankOfSlot[slot]) !== node(from)) crossings.add(`${token},${node(rankOfSlot[slot])}`);
        });
        let crossed = 0;
        const across = (plan: typeof perNode, d: number) => {
          let rows = 0;
          for (let s = 0; s < shape.rankCount; s++)
            if (node(s) !== node(d)) rows += plan.rowsPerPair[s * shape.rankCount + d];
          return rows;
        };
        for (let d = 0; d < shape.rankCount; d++) crossed += across(perNode, d);
        expect(crossed).toBe(crossings.size);
        expect(sum(perNode.rowsPerPair)).toBeGreaterThanOrEqual(sum(perRank.rowsPerPair));
      }),
    );
  });

  test('moves 59,136 bytes out in FP8 and 114,688 back in BF16 per K3 token and layer when every choice is a row', () => {
    const shape = { rankCount: 8, tokensPerRank: 1, expertCount: 896, topK: 16, seed: 1 };
    const plan = planDispatch(someRouting(shape), somePlacement(shape), {
      ...options,
      kind: 'per-expert',
      dispatchRowBytes: rowBytes('fp8', 3584),
      combineRowBytes: rowBytes('bf16', 3584),
    });
    expect(sum(plan.dispatchBytes) / 8).toBe(59_136);
    expect(sum(plan.combineBytes) / 8).toBe(114_688);
  });

  test.each([
    [8, 7.07],
    [64, 14.36],
  ])(
    'of K3 over %i ranks sends a uniform token to %f ranks, as the closed form says',
    (rankCount, expected) => {
      const shape = {
        rankCount,
        tokensPerRank: Math.ceil(2048 / rankCount),
        expertCount: 896,
        topK: 16,
        seed: 2,
      };
      const closed = expectedDistinctRanks(896, 16, rankCount);
      expect(closed).toBeCloseTo(expected, 2);
      const plan = planDispatch(someRouting(shape), somePlacement(shape), { ...options, kind: 'per-rank' });
      const perToken = sum(plan.rowsPerPair) / (rankCount * shape.tokensPerRank);
      expect(Math.abs(perToken / closed - 1)).toBeLessThan(0.01);
    },
  );

  test('fills slot quotas exactly', () => {
    fc.assert(
      fc.property(anyShape(), (shape) => {
        const routing = someRouting(shape);
        const placement = somePlacement(shape, 2);
        const even = planDispatch(routing, placement, { ...options, kind: 'per-rank' });
        const quota = planDispatch(
          routing,
          { ...placement, slotQuota: even.tokensPerSlot },
          { ...options, kind: 'per-rank' },
        );
        expect(quota.tokensPerSlot).toEqual(even.tokensPerSlot);
      }),
    );
  });

  test('of a part of the tokens is the part of the plan', () => {
    const shape = { rankCount: 3, tokensPerRank: 6, expertCount: 12, topK: 3, seed: 4 };
    const routing = someRouting(shape);
    const first = sliceRouting(routing, (n) => [0, n / 2]);
    const second = sliceRouting(routing, (n) => [n / 2, n]);
    const all = planDispatch(routing, somePlacement(shape), { ...options, kind: 'per-rank' });
    const parts = [first, second].map((r) =>
      planDispatch(r, somePlacement(shape), { ...options, kind: 'per-rank' }),
    );
    all.choicesPerPair.forEach((choices, i) => {
      expect(parts[0].choicesPerPair[i] + parts[1].choicesPerPair[i]).toBe(choices);
    });
  });

  test('refuses a routing and a placement that disagree', () => {
    const shape = { rankCount: 2, tokensPerRank: 2, expertCount: 8, topK: 2, seed: 0 };
    const other = somePlacement({ ...shape, expertCount: 9 });
    expect(() => planDispatch(someRouting(shape), other, { ...options, kind: 'per-rank' })).toThrow(
      'routing of 8 experts on 2 ranks does not fit a placement of 9 experts on 2 ranks',
    );
  });
});
