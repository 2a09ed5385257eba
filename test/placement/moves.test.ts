import { moves, type PlacementPolicy, placementPolicies, validatePlacement } from '@epsim/placement';
import type { Placement } from '@epsim/spec';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyInput, anyLoads, inputOf, sum } from './shapes.js';

const policies: PlacementPolicy[] = [
  placementPolicies.random,
  placementPolicies.eplb,
  placementPolicies['eplb-distinct'],
];

/** Two placements of the same shape, as two policies or two loads give. */
const anyPair = anyInput.chain((input) =>
  fc
    .record({
      before: fc.constantFrom(...policies),
      after: fc.constantFrom(...policies),
      loads: anyLoads(input.loads.length),
    })
    .map(({ before, after, loads }) => ({
      domainRanks: input.domainRanks,
      from: before.place(input, {}),
      to: after.place({ ...input, loads }, {}),
    })),
);

const expertsOf = (placement: Placement, rank: number): number[] =>
  [...placement.slotExpert.subarray(placement.slotOffsets[rank], placement.slotOffsets[rank + 1])].sort();

/** Fewest changed slots over every numbering of a rank's new slots. */
function fewestByTrying(before: readonly number[], after: readonly number[]): number {
  if (before.length === 0) return 0;
  let fewest = Infinity;
  after.forEach((expert, i) => {
    const rest = after.filter((_, j) => j !== i);
    const cost = expert >= 0 && expert !== before[0] ? 1 : 0;
    fewest = Math.min(fewest, cost + fewestByTrying(before.slice(1), rest));
  });
  return fewest;
}

test('relabelling keeps every rank its experts', () => {
  fc.assert(
    fc.property(anyPair, ({ from, to }) => {
      const { relabelled } = moves(from, to);
      validatePlacement(relabelled);
      for (let rank = 0; rank < to.rankCount; rank++) {
        expect(expertsOf(relabelled, rank)).toEqual(expertsOf(to, rank));
      }
    }),
  );
});

test('no numbering of the new slots of a rank changes fewer', () => {
  const small = anyPair.filter(({ to }) =>
    to.slotOffsets.every((o, i) => i === 0 || o - to.slotOffsets[i - 1] <= 6),
  );
  fc.assert(
    fc.property(small, ({ from, to }) => {
      let fewest = 0;
      for (let rank = 0; rank < to.rankCount; rank++) {
        const part = (p: Placement) => [
          ...p.slotExpert.subarray(p.slotOffsets[rank], p.slotOffsets[rank + 1]),
        ];
        fewest += fewestByTrying(part(from), part(to));
      }
      expect(moves(from, to).movedSlots).toBe(fewest);
    }),
    { numRuns: 60 },
  );
});

test('every change is counted once between a rank that had the expert and the rank that gets it', () => {
  fc.assert(
    fc.property(anyPair, ({ from, to, domainRanks }) => {
      const { relabelled, movedSlots, slots, fromRank, slotsPerPair } = moves(from, to, domainRanks);
      expect(sum(slotsPerPair)).toBe(movedSlots);
      expect(slots.length).toBe(movedSlots);
      const unchanged = relabelled.slotExpert.slice();
      slots.forEach((slot, i) => {
        const expert = relabelled.slotExpert[slot];
        expect(expertsOf(from, fromRank[i])).toContain(expert);
        const rank = to.slotOffsets.findLastIndex((offset) => offset <= slot);
        const near = (r: number) => Math.floor(r / domainRanks) === Math.floor(rank / domainRanks);
        const couldBeNear = from.slotOffsets.some(
          (_, r) => r < from.rankCount && near(r) && expertsOf(from, r).includes(expert),
        );
        expect(near(fromRank[i])).toBe(couldBeNear);
        unchanged[slot] = from.slotExpert[slot];
      });
      for (let slot = 0; slot < unchanged.length; slot++) {
        if (unchanged[slot] >= 0) expect(unchanged[slot]).toBe(from.slotExpert[slot]);
      }
    }),
  );
});

test('nothing moves to where one already is', () => {
  fc.assert(
    fc.property(anyPair, ({ to }) => {
      expect(moves(to, to).movedSlots).toBe(0);
      const { relabelled } = moves(to, to);
      expect(relabelled).toEqual(to);
    }),
  );
});

describe('a known change', () => {
  const offsets = Int32Array.of(0, 2, 4);
  const placementOf = (...experts: number[]): Placement => ({
    rankCount: 2,
    expertCount: 3,
    slotOffsets: offsets,
    slotExpert: Int32Array.from(experts),
  });

  test('slots that only swap within a rank do not travel', () => {
    expect(moves(placementOf(0, 1, 2, 0), placementOf(1, 0, 0, 2)).movedSlots).toBe(0);
  });

  test('one new expert on a rank is one transfer, and quotas follow their slot', () => {
    const to = { ...placementOf(2, 0, 1, 2), slotQuota: Int32Array.of(5, 6, 7, 8) };
    const result = moves(placementOf(0, 1, 2, 1), to);
    expect([...result.relabelled.slotExpert]).toEqual([0, 2, 2, 1]);
    expect([...(result.relabelled.slotQuota ?? [])]).toEqual([6, 5, 8, 7]);
    expect([...result.slotsPerPair]).toEqual([0, 0, 1, 0]);
    expect([...result.slots]).toEqual([1]);
    expect([...result.fromRank]).toEqual([1]);
  });

  test('a second replica on the same rank is a copy at home', () => {
    expect([...moves(placementOf(0, 1, 2, 1), placementOf(0, 0, 2, 1)).slotsPerPair]).toEqual([1, 0, 0, 0]);
  });

  test('senders take turns', () => {
    // Six experts wanted by rank 2 lie on ranks 0 and 1 alike.
    const shape = { rankCount: 3, expertCount: 12, slotOffsets: Int32Array.of(0, 6, 12, 18) };
    const row = (first: number) => Array.from({ length: 6 }, (_, i) => first + i);
    const from = { ...shape, slotExpert: Int32Array.from([...row(0), ...row(0), ...row(6)]) };
    const to = { ...shape, slotExpert: Int32Array.from([...row(0), ...row(6), ...row(0)]) };
    const { slotsPerPair } = moves(from, to);
    expect([...slotsPerPair.subarray(0, 9)].filter((_, i) => i % 3 === 2)).toEqual([3, 3, 0]);
  });

  test('an emptied slot costs nothing, and prefetched experts of a balanced plan are what moves', () => {
    const policy = placementPolicies.balanced;
    const home = policy.place(inputOf([800, 0, 0, 0], 4, 8), {});
    const choices = new Int32Array(16);
    choices[0] = 800;
    const split = policy.split?.({ placement: home, choices, domainRanks: 4 }, {}) ?? home;
    expect(moves(home, split).movedSlots).toBe(3);
    expect(moves(split, home).movedSlots).toBe(0);
  });

  test('placements of different shapes are refused', () => {
    const other = placementPolicies.contiguous.place(inputOf([1, 1, 1], 2, 5), {});
    expect(() => moves(placementOf(0, 1, 2, 1), other)).toThrow(
      new RangeError('moves: rank 0 has 2 slots before and 3 after'),
    );
  });
});
