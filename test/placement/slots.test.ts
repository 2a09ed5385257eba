import {
  dividingRankCounts,
  evenSlots,
  leastRedundantExperts,
  leastSlotsPerRank,
  type PlacementInput,
  placementPolicies,
  validatePlacement,
} from '@epsim/placement';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inputOf, sum } from './shapes.js';

// Expert and rank counts of published deployments whose engines stumbled over the remainder.
test.each([
  [256, 36, 32],
  [256, 72, 32],
  [384, 72, 48],
  [896, 72, 40],
  [512, 72, 64],
  [160, 48, 32],
  [128, 12, 4],
  [256, 64, 0],
])('%i experts on %i ranks need %i redundant experts for equal slots', (experts, ranks, redundant) => {
  expect(leastRedundantExperts(experts, ranks)).toBe(redundant);
});

test('K3 on 72 ranks takes 13 equal slots a rank', () => {
  expect(leastSlotsPerRank(896, 72)).toBe(13);
  expect(896 + leastRedundantExperts(896, 72)).toBe(13 * 72);
});

test('a remainder is spread over the first ranks, never piled on the last', () => {
  expect([...evenSlots(30, 8)]).toEqual([4, 4, 4, 4, 4, 4, 3, 3]);
  expect([...evenSlots(256, 3)]).toEqual([86, 85, 85]);
  fc.assert(
    fc.property(fc.nat({ max: 5000 }), fc.integer({ min: 1, max: 200 }), (slots, ranks) => {
      const each = evenSlots(slots, ranks);
      expect(sum(each)).toBe(slots);
      expect(Math.max(...each) - Math.min(...each)).toBeLessThanOrEqual(1);
    }),
  );
});

test('least slots hold the experts and one less does not', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2000 }), fc.integer({ min: 1, max: 300 }), (experts, ranks) => {
      const least = leastSlotsPerRank(experts, ranks);
      expect(least * ranks).toBe(experts + leastRedundantExperts(experts, ranks));
      expect((least - 1) * ranks).toBeLessThan(experts);
    }),
  );
});

test('the rank counts that divide 896 experts are known', () => {
  expect(dividingRankCounts(896)).toEqual([1, 2, 4, 7, 8, 14, 16, 28, 32, 56, 64, 112, 128, 224, 448, 896]);
  expect(dividingRankCounts(36)).toEqual([1, 2, 3, 4, 6, 9, 12, 18, 36]);
});

test('contiguous fills slots in order and begins again', () => {
  const placement = placementPolicies.contiguous.place(inputOf([1, 1, 1, 1], 3, 6), {});
  expect([...placement.slotExpert]).toEqual([0, 1, 2, 3, 0, 1]);
});

test('round-robin deals to ranks in turn and skips a rank that has the expert', () => {
  const { slotExpert, slotOffsets } = placementPolicies['round-robin'].place(inputOf([1, 1, 1, 1], 2, 6), {});
  expect([...slotExpert.subarray(0, slotOffsets[1])]).toEqual([0, 2, 1]);
  expect([...slotExpert.subarray(slotOffsets[1])]).toEqual([1, 3, 0]);
});

test('random depends on seed and layer', () => {
  const input = inputOf(new Array(64).fill(1), 8, 64);
  const base = placementPolicies.random.place(input, {}).slotExpert;
  expect(placementPolicies.random.place({ ...input, seed: 2 }, {}).slotExpert).not.toEqual(base);
  expect(placementPolicies.random.place({ ...input, layer: 1 }, {}).slotExpert).not.toEqual(base);
});

test('a rank with more slots than experts leaves the rest empty', () => {
  const input = { ...inputOf([1, 1], 2, 4), slotsPerRank: Int32Array.of(3, 1) };
  expect([...placementPolicies.contiguous.place(input, {}).slotExpert]).toEqual([0, 1, -1, 0]);
});

test.each<[string, Partial<PlacementInput>, string]>([
  [
    'slots of another number of ranks',
    { slotsPerRank: Int32Array.of(4) },
    'slotsPerRank has 1 entries, expected 2 [rankCount]',
  ],
  [
    'a negative load',
    { loads: Float64Array.of(1, -1, 1, 1) },
    'loads[1] must be a finite number >= 0, not -1',
  ],
  [
    'a load that is no number',
    { loads: Float64Array.of(1, Number.NaN, 1, 1) },
    'loads[1] must be a finite number >= 0, not NaN',
  ],
  [
    'a rank with no speed',
    { rankSpeed: Float64Array.of(1, 0) },
    'rankSpeed must be positive; leave a rank that is down without slots instead',
  ],
])('%s is a RangeError that says so', (_, change, message) => {
  const input = { ...inputOf([1, 1, 1, 1], 2, 4), ...change };
  expect(() => placementPolicies.contiguous.place(input, {})).toThrow(new RangeError(message));
});

test('a broken placement is an invariant error', () => {
  const good = placementPolicies.contiguous.place(inputOf([1, 1, 1, 1], 2, 4), {});
  expect(() => validatePlacement({ ...good, slotExpert: Int32Array.of(0, 1, 2, 2) })).toThrow(
    'invariant: expert 3 has no slot',
  );
  expect(() => validatePlacement({ ...good, slotExpert: Int32Array.of(0, 1, 2, 4) })).toThrow(
    'invariant: slot 3 holds expert 4 of 4',
  );
  expect(() => validatePlacement({ ...good, slotOffsets: Int32Array.of(0, 3, 2) })).toThrow(
    'invariant: rank 1 has -1 slots',
  );
  expect(() => validatePlacement({ ...good, slotOffsets: Int32Array.of(0, 2, 3) })).toThrow(
    'invariant: 4 slots listed, 3 counted',
  );
  expect(() => validatePlacement({ ...good, slotQuota: Int32Array.of(1, 1, 1, -1) })).toThrow(
    'invariant: slot 3 takes -1',
  );
});
