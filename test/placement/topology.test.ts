import {
  balancedness,
  type PlacementInput,
  placementCost,
  placementPolicies,
  rankLoads,
} from '@epsim/placement';
import { randomSource } from '@epsim/spec';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyBatch, inputOf } from './shapes.js';

const { contiguous, 'topology-aware': aware, 'eplb-distinct': distinct } = placementPolicies;
const weights = { distanceWeight: 1, near: 0.1 };

/** Least total distance by trying every assignment of unit choices to the shares of two replicas. */
function naiveDistance(
  demand: readonly number[],
  holders: readonly number[],
  domainRanks: number,
  near: number,
): number {
  const total = demand.reduce((a, b) => a + b, 0);
  const share = total / holders.length;
  const sources = demand.flatMap((count, rank) => new Array(count).fill(rank));
  const price = (s: number, d: number) =>
    s === d ? 0 : Math.floor(s / domainRanks) === Math.floor(d / domainRanks) ? near : 1;
  let best = Infinity;
  for (let bits = 0; bits < holders.length ** sources.length; bits++) {
    const taken = holders.map(() => 0);
    let cost = 0;
    let code = bits;
    for (const source of sources) {
      const which = code % holders.length;
      code = Math.floor(code / holders.length);
      taken[which]++;
      cost += price(source, holders[which]);
    }
    if (taken.every((count) => count === share)) best = Math.min(best, cost);
  }
  return best;
}

test('the distance term is that of the best assignment under even shares', () => {
  const shape = fc.record({
    demand: fc.array(fc.nat({ max: 3 }), { minLength: 4, maxLength: 4 }),
    holders: fc.uniqueArray(fc.nat({ max: 3 }), { minLength: 1, maxLength: 2 }),
    domainRanks: fc.constantFrom(1, 2, 4),
  });
  fc.assert(
    fc.property(shape, ({ demand, holders, domainRanks }) => {
      const total = demand.reduce((a, b) => a + b, 0);
      fc.pre(total > 0 && total % holders.length === 0);
      const rankExpertLoads = Float64Array.from(demand);
      const input: PlacementInput = { ...inputOf([total], 4, 4), domainRanks, rankExpertLoads };
      const slotExpert = Int32Array.from({ length: 4 }, (_, rank) => (holders.includes(rank) ? 0 : -1));
      const placement = { ...contiguous.place(input, {}), slotExpert };
      const cost = placementCost(placement, input, { distanceWeight: 1, near: 0.25 });
      const naive = naiveDistance(demand, holders, domainRanks, 0.25) / total;
      expect(cost).toBeCloseTo(4 / holders.length + naive, 9);
    }),
    { numRuns: 100 },
  );
});

test('topology-aware is never worse than eplb-distinct in the sum that it optimises', () => {
  fc.assert(
    fc.property(
      anyBatch,
      fc.double({ min: 0, max: 4, noNaN: true }),
      ({ input, choices }, distanceWeight) => {
        const rankExpertLoads = Float64Array.from(choices);
        const loads = new Float64Array(input.loads.length);
        choices.forEach((count, i) => {
          loads[i % loads.length] += count;
        });
        const full = { ...input, loads, rankExpertLoads };
        const cost = (placement: ReturnType<typeof distinct.place>) =>
          placementCost(placement, full, { distanceWeight, near: 0.1 });
        const found = aware.place(full, { distanceWeight, effort: 5 });
        expect(cost(found)).toBeLessThanOrEqual(cost(distinct.place(full, {})));
      },
    ),
    { numRuns: 80 },
  );
});

test('where domains prefer their own experts it cuts distance and keeps the balance', () => {
  const [experts, ranks, domainRanks] = [96, 12, 4];
  const draw = randomSource(5, 'popularity');
  const popularity = Array.from({ length: experts }, () => Math.exp(draw.normal() / 2));
  const rankExpertLoads = new Float64Array(ranks * experts);
  const loads = new Float64Array(experts);
  for (let rank = 0; rank < ranks; rank++) {
    for (let expert = 0; expert < experts; expert++) {
      const count = popularity[expert] * (expert % 3 === Math.floor(rank / domainRanks) ? 6 : 1);
      rankExpertLoads[rank * experts + expert] = count;
      loads[expert] += count;
    }
  }
  const input: PlacementInput = { ...inputOf([...loads], ranks, 108), domainRanks, rankExpertLoads };
  const before = distinct.place(input, {});
  const after = aware.place(input, {});
  const unsearched = aware.place(input, { effort: 0 });
  expect(placementCost(after, input, weights)).toBeLessThan(
    placementCost(unsearched, input, weights) - 0.005,
  );
  expect(placementCost(before, input, weights) - placementCost(after, input, weights)).toBeGreaterThan(0.25);
  expect(balancedness(rankLoads(after, loads))).toBeGreaterThan(0.95);
});

test('without distance it is a search for balance alone', () => {
  const input = inputOf([9, 8, 7, 6, 5, 5, 1], 3, 7);
  const load = (p: ReturnType<typeof distinct.place>) => balancedness(rankLoads(p, input.loads));
  expect(load(aware.place(input, { distanceWeight: 0, effort: 200 }))).toBeGreaterThanOrEqual(
    load(distinct.place(input, {})),
  );
});
