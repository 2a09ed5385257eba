import { assignMost, moves, placementPolicies, rankLoads, settleRanks } from '@epsim/placement';
import { randomSource } from '@epsim/spec';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const permutations = (n: number): number[][] =>
  n === 0
    ? [[]]
    : permutations(n - 1).flatMap((p) =>
        Array.from({ length: n }, (_, i) => [...p.slice(0, i), n - 1, ...p.slice(i)]),
      );

test('the assignment is the best of all permutations', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }).chain((n) =>
        fc.array(fc.array(fc.nat({ max: 9 }), { minLength: n, maxLength: n }), {
          minLength: n,
          maxLength: n,
        }),
      ),
      (gain) => {
        const sum = (columns: readonly number[]) => columns.reduce((s, c, r) => s + gain[r][c], 0);
        const found = assignMost(gain);
        expect([...found].sort((a, b) => a - b)).toEqual(gain.map((_, i) => i));
        expect(sum(found)).toBe(Math.max(...permutations(gain.length).map(sum)));
      },
    ),
  );
});

describe('ranks that are alike', () => {
  const place = (seed: number, ranks: number, experts: number, domainRanks: number) => {
    const random = randomSource(seed, 'loads');
    const loads = Float64Array.from({ length: experts }, () => 1 + Math.floor(random.uniform() * 100));
    const slotsPerRank = new Int32Array(ranks).fill(Math.ceil(experts / ranks) + 1);
    const input = { loads, rankCount: ranks, slotsPerRank, domainRanks, seed, layer: 0 };
    return { loads, placed: placementPolicies['eplb-distinct'].place(input, {}) };
  };

  test('swap their parts so that no more weights travel, and every load stays in its domain', () => {
    fc.assert(
      fc.property(
        fc.nat(),
        fc.constantFrom(2, 4, 8),
        fc.integer({ min: 8, max: 24 }),
        (seed, ranks, experts) => {
          const domainRanks = ranks / 2;
          const { placed: from } = place(seed, ranks, experts, domainRanks);
          const { placed: to, loads } = place(seed + 1, ranks, experts, domainRanks);
          const settled = settleRanks(from, to, domainRanks);
          expect(moves(from, settled).movedSlots).toBeLessThanOrEqual(moves(from, to).movedSlots);
          const byDomain = (p: typeof to) => {
            const each = [...rankLoads(p, loads)];
            return [each.slice(0, domainRanks).sort(), each.slice(domainRanks).sort()];
          };
          expect(byDomain(settled)).toEqual(byDomain(to));
        },
      ),
    );
  });

  test('take back a placement that was only dealt out in another order, for nothing', () => {
    const { placed } = place(3, 8, 24, 8);
    const slots = placed.slotExpert.length / 8;
    const turned = new Int32Array(placed.slotExpert.length);
    for (let i = 0; i < turned.length; i++) turned[(i + 3 * slots) % turned.length] = placed.slotExpert[i];
    const settled = settleRanks(placed, { ...placed, slotExpert: turned }, 8);
    expect(moves(placed, settled).movedSlots).toBe(0);
  });
});
