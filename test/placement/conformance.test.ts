import {
  choicesPerExpert,
  duplicatesOnRank,
  type PlacementPolicy,
  placementPolicies,
  rankLoads,
  validatePlacement,
  validateQuota,
} from '@epsim/placement';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { anyBatch, anyInput, splitInput, sum } from './shapes.js';

/** Policies that may put two replicas of an expert on one rank although another place exists, and why. */
const MAY_DUPLICATE: Readonly<Record<string, string>> = {
  eplb: 'the published algorithm does, and its placements are reproduced bit by bit',
};

const policies: [string, PlacementPolicy][] = Object.entries(placementPolicies);

describe.each(policies)('%s', (name, policy) => {
  const options = policy.options.parse({});
  beforeAll(() => policy.ready?.());

  test('keeps the laws of a placement on any shape', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const placement = policy.place(input, options);
        validatePlacement(placement);
        expect(placement.expertCount).toBe(input.loads.length);
        for (let rank = 0; rank < input.rankCount; rank++) {
          expect(placement.slotOffsets[rank + 1] - placement.slotOffsets[rank]).toBe(
            input.slotsPerRank[rank],
          );
        }
      }),
      { numRuns: 150 },
    );
  });

  test('puts no two replicas of an expert on one rank, or is known to', () => {
    let duplicates = 0;
    fc.assert(
      fc.property(anyInput, (input) => {
        duplicates += duplicatesOnRank(policy.place(input, options));
      }),
      { numRuns: 150, seed: 7 },
    );
    if (name in MAY_DUPLICATE) expect(duplicates).toBeGreaterThan(0);
    else expect(duplicates).toBe(0);
  });

  test('gives the same placement for the same input', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        expect(policy.place(input, options)).toEqual(policy.place(input, options));
      }),
      { numRuns: 20 },
    );
  });

  test('refuses too few slots and names the least that are enough', () => {
    const input = {
      loads: new Float64Array(896).fill(1),
      rankCount: 72,
      slotsPerRank: new Int32Array(72).fill(12),
      domainRanks: 72,
      seed: 1,
      layer: 0,
    };
    expect(() => policy.place(input, options)).toThrow(
      new RangeError(
        'too few slots: 72 ranks x 12 = 864 < 896 experts; use 13 or more per rank ' +
          '(936 in all, 40 redundant), or 896 uneven ones',
      ),
    );
  });

  test('keeps total load over the ranks', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const loads = rankLoads(policy.place(input, options), input.loads);
        expect(sum(loads)).toBeCloseTo(sum(input.loads), 6);
      }),
      { numRuns: 50 },
    );
  });

  test('splits a batch so that each expert keeps its choices', () => {
    fc.assert(
      fc.property(anyBatch, ({ input, choices }) => {
        const placement = policy.place(input, options);
        const split = policy.split?.(splitInput(input, placement, choices), options);
        if (!split) return;
        validatePlacement(split);
        validateQuota(split, choicesPerExpert(choices, input.loads.length));
        expect(duplicatesOnRank(split)).toBe(0);
      }),
      { numRuns: 60 },
    );
  });
});
