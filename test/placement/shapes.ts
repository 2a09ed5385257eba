/**
 * Random shapes for the laws: any expert count on any rank count, even and uneven slots, heavy-tailed loads.
 */
import type { PlacementInput, SplitInput } from '@epsim/placement';
import { evenSlots } from '@epsim/placement';
import type { Placement } from '@epsim/spec';
import fc from 'fast-check';

/** Loads with ties, zeros and a heavy tail, as real routers give. */
export const anyLoads = (expertCount: number): fc.Arbitrary<Float64Array> =>
  fc
    .array(fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 5000 })), {
      minLength: expertCount,
      maxLength: expertCount,
    })
    .map((loads) => Float64Array.from(loads));

/** Slots per rank with room for every expert; no rank has more slots than there are experts. */
export const anySlots = (expertCount: number, rankCount: number): fc.Arbitrary<Int32Array> => {
  const spread = fc.integer({
    min: expertCount,
    max: Math.min(expertCount + 2 * rankCount, expertCount * rankCount),
  });
  const even = spread.map((slots) => evenSlots(slots, rankCount));
  const uneven = fc
    .array(fc.integer({ min: 0, max: expertCount }), { minLength: rankCount, maxLength: rankCount })
    .map((slots) => Int32Array.from(slots))
    .filter((slots) => slots.reduce((a, b) => a + b, 0) >= expertCount);
  return fc.oneof({ weight: 2, arbitrary: even }, { weight: 1, arbitrary: uneven });
};

export const anyInput: fc.Arbitrary<PlacementInput> = fc
  .record({ expertCount: fc.integer({ min: 1, max: 40 }), rankCount: fc.integer({ min: 1, max: 10 }) })
  .chain(({ expertCount, rankCount }) =>
    fc.record(
      {
        loads: anyLoads(expertCount),
        rankCount: fc.constant(rankCount),
        slotsPerRank: anySlots(expertCount, rankCount),
        rankSpeed: fc
          .array(fc.constantFrom(0.5, 1, 2), { minLength: rankCount, maxLength: rankCount })
          .map((speeds) => Float64Array.from(speeds)),
        domainRanks: fc.integer({ min: 1, max: rankCount }),
        seed: fc.integer({ min: 0, max: 1000 }),
        layer: fc.integer({ min: 0, max: 3 }),
      },
      { requiredKeys: ['loads', 'rankCount', 'slotsPerRank', 'domainRanks', 'seed', 'layer'] },
    ),
  );

/** An input with its choices of one batch, [rankCount x expertCount]. */
export const anyBatch = anyInput.chain((input) =>
  fc
    .array(fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 60 })), {
      minLength: input.rankCount * input.loads.length,
      maxLength: input.rankCount * input.loads.length,
    })
    .map((choices) => ({ input, choices: Int32Array.from(choices) })),
);

/** The part of a placement's input that a split takes too. */
export function splitInput(input: PlacementInput, placement: Placement, choices: Int32Array): SplitInput {
  const { domainRanks, rankSpeed } = input;
  return { placement, choices, domainRanks, ...(rankSpeed ? { rankSpeed } : {}) };
}

/** A plain input with equal slots, for cases written by hand. */
export function inputOf(loads: readonly number[], rankCount: number, slots: number): PlacementInput {
  return {
    loads: Float64Array.from(loads),
    rankCount,
    slotsPerRank: evenSlots(slots, rankCount),
    domainRanks: rankCount,
    seed: 1,
    layer: 0,
  };
}

export const sum = (values: ArrayLike<number>): number => Array.from(values).reduce((a, b) => a + b, 0);
export const max = (values: ArrayLike<number>): number =>
  Array.from(values).reduce((a, b) => Math.max(a, b), 0);
