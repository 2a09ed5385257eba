import { readFileSync } from 'node:fs';
import { balancedness, duplicatesOnRank, evenSlots, placementPolicies, rankLoads } from '@epsim/placement';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { naiveEplb } from './naive-eplb.js';
import { anyInput, inputOf, max, sum } from './shapes.js';

interface GoldenCase {
  readonly name: string;
  readonly weight: number[][] | null;
  readonly layers: number;
  readonly experts: number;
  readonly replicas: number;
  readonly groups: number;
  readonly nodes: number;
  readonly ranks: number;
  readonly firstWeights: number[];
  readonly phy2log: number[][];
  readonly balancedness: number[];
}

const golden: { cases: GoldenCase[] } = JSON.parse(
  readFileSync(new URL('./fixtures/eplb-cases.json', import.meta.url), 'utf8'),
);

const { eplb, 'eplb-distinct': distinct } = placementPolicies;

/** The generator behind the larger cases: distinct, heavy-tailed, below 2^24. */
function generatedWeights(layers: number, experts: number): number[][] {
  let x = 1;
  return Array.from({ length: layers }, () =>
    Array.from({ length: experts }, (_, expert) => {
      x = (Math.imul(1664525, x) + 1013904223) >>> 0;
      return (Math.min(4096, Math.floor(4194304 / ((x >>> 16) + 1))) + 1) * 1000 + expert;
    }),
  );
}

describe.each(golden.cases)('the published result of $name', (golden) => {
  const weight = golden.weight ?? generatedWeights(golden.layers, golden.experts);

  test('comes out slot by slot', () => {
    expect(weight[0].slice(0, 8)).toEqual(golden.firstWeights);
    weight.forEach((loads, layer) => {
      const input = inputOf(loads, golden.ranks, golden.replicas);
      const placement = eplb.place(input, { groups: golden.groups, nodes: golden.nodes });
      expect([...placement.slotExpert]).toEqual(golden.phy2log[layer]);
      expect(balancedness(rankLoads(placement, loads))).toBeCloseTo(golden.balancedness[layer], 6);
    });
  });
});

test('the fast form is the naive form on any divisible shape, ties included', () => {
  const shape = fc
    .record({
      nodes: fc.integer({ min: 1, max: 3 }),
      ranksPerNode: fc.integer({ min: 1, max: 4 }),
      groupsPerNode: fc.integer({ min: 1, max: 3 }),
      groupSize: fc.integer({ min: 1, max: 6 }),
      spare: fc.integer({ min: 0, max: 4 }),
      global: fc.boolean(),
    })
    .chain((s) => {
      const experts = s.nodes * s.groupsPerNode * s.groupSize;
      const load = fc.oneof(fc.nat({ max: 4 }), fc.nat({ max: 20_000_000 }));
      return fc.record({
        shape: fc.constant(s),
        loads: fc.array(load, { minLength: experts, maxLength: experts }),
      });
    });
  fc.assert(
    fc.property(shape, ({ shape: s, loads }) => {
      const ranks = s.nodes * s.ranksPerNode;
      const replicas = (Math.ceil(loads.length / ranks) + s.spare) * ranks;
      const groups = s.global ? 1 : s.nodes * s.groupsPerNode;
      const placed = eplb.place(inputOf(loads, ranks, replicas), { groups, nodes: s.nodes });
      const naive = naiveEplb(loads, replicas, groups, s.nodes, ranks);
      expect([...placed.slotExpert]).toEqual(naive.expert);
      expect([...(placed.slotReplica ?? [])]).toEqual(naive.replica);
    }),
    { numRuns: 300 },
  );
});

test('groups stay on the node they were packed on', () => {
  const loads = Array.from({ length: 64 }, (_, e) => 1 + ((e * 37) % 64));
  const placement = eplb.place(inputOf(loads, 8, 80), { groups: 8, nodes: 4 });
  for (let group = 0; group < 8; group++) {
    const nodes = new Set<number>();
    placement.slotExpert.forEach((expert, slot) => {
      if (Math.floor(expert / 8) === group) nodes.add(Math.floor(slot / 20));
    });
    expect(nodes.size).toBe(1);
  }
});

test('nodes default to the scale-up domains', () => {
  const loads = Array.from({ length: 64 }, (_, e) => 1 + ((e * 37) % 64));
  const input = { ...inputOf(loads, 8, 80), domainRanks: 2 };
  expect(eplb.place(input, { groups: 8 })).toEqual(eplb.place(input, { groups: 8, nodes: 4 }));
});

test.each([
  [{ groups: 10, nodes: 2 }, 'eplb: 64 experts do not divide into 10 groups'],
  [{ groups: 9, nodes: 3 }, 'eplb: 64 experts do not divide into 9 groups'],
  [{ groups: 16, nodes: 16 }, 'eplb: 8 ranks do not divide over 16 nodes'],
])('a hierarchy %j that does not fit is refused', (options, message) => {
  expect(() => eplb.place(inputOf(new Array(64).fill(1), 8, 64), options)).toThrow(new RangeError(message));
});

test('an uneven node without room for its experts is refused with the number that is enough', () => {
  const input = { ...inputOf(new Array(8).fill(1), 4, 8), slotsPerRank: Int32Array.of(1, 1, 3, 3) };
  expect(() => eplb.place(input, { groups: 2, nodes: 2 })).toThrow(
    new RangeError('eplb: too few slots: node 0 has 2 for 4 experts; use 2 or more per rank'),
  );
});

// All tokens to one expert: the published algorithm wastes a replica on a rank that has one.
test('one hot expert: EPLB doubles it on a rank, eplb-distinct reaches the mean', () => {
  const loads = [1000, 0, 0, 0, 0, 0, 0, 0];
  const eight = eplb.place(inputOf(loads, 4, 8), {});
  expect(balancedness(rankLoads(eight, loads))).toBe(0.25);

  const twelve = eplb.place(inputOf(loads, 4, 12), {});
  expect([...rankLoads(twelve, loads)].sort((a, b) => b - a)).toEqual([400, 200, 200, 200]);
  expect(balancedness(rankLoads(twelve, loads))).toBe(0.625);
  expect(duplicatesOnRank(twelve)).toBe(1);

  const better = distinct.place(inputOf(loads, 4, 12), {});
  expect([...rankLoads(better, loads)]).toEqual([250, 250, 250, 250]);
  expect(duplicatesOnRank(better)).toBe(0);
});

test('eplb-distinct leaves no slot empty that an expert could fill', () => {
  fc.assert(
    fc.property(anyInput, (input) => {
      const { slotExpert } = distinct.place(input, {});
      expect(slotExpert.includes(-1)).toBe(false);
    }),
    { numRuns: 300 },
  );
});

test('eplb-distinct is where a replica must change places to fit', () => {
  // Two ranks hold everything; the third has one slot. Counts by load alone, [3, 3, 1], fit nowhere.
  const input = { ...inputOf([90, 90, 1], 3, 7), slotsPerRank: Int32Array.of(3, 3, 1) };
  const { slotExpert } = distinct.place(input, {});
  expect([...slotExpert.subarray(0, 3)].sort()).toEqual([0, 1, 2]);
  expect([...slotExpert.subarray(3, 6)].sort()).toEqual([0, 1, 2]);
});

test('a replica that no rank with room can take changes places with the one nearest in load', () => {
  // Replicas by load: three of 26.7 and of 26.3, two of 25.5, one of 36. The last 25.5 finds room only where
  // its twin is, and changes places with a 26.3.
  const placement = distinct.place(inputOf([51, 80, 36, 79], 4, 9), {});
  expect([...placement.slotExpert]).toEqual([2, 0, 3, 1, 0, 1, 3, 1, 3]);
  expect(duplicatesOnRank(placement)).toBe(0);
});

test('a rank of double speed gets about double the load', () => {
  const loads = Array.from({ length: 120 }, (_, e) => (e < 20 ? 1000 : 10));
  const input = { ...inputOf(loads, 3, 120), rankSpeed: Float64Array.of(2, 1, 1) };
  for (const policy of [eplb, distinct]) {
    const [fast, one, other] = rankLoads(policy.place(input, {}), loads);
    expect(fast / one).toBeGreaterThan(1.5);
    expect(fast / other).toBeGreaterThan(1.5);
  }
});

test('K3 on 16 ranks: a skew that leaves contiguous ranks 7 % apart is packed to below 2 %', () => {
  const loads = Array.from({ length: 896 }, (_, e) => 100 + ((e * 2654435761) % 97) + (e < 56 ? 10 : 0));
  const before = rankLoads(placementPolicies.contiguous.place(inputOf(loads, 16, 896), {}), loads);
  expect(max(before) / (sum(before) / 16)).toBeGreaterThan(1.06);
  for (const policy of [eplb, distinct]) {
    const after = rankLoads(policy.place(inputOf(loads, 16, 896), {}), loads);
    expect(max(after) / (sum(after) / 16)).toBeLessThan(1.02);
  }
});

test('896 experts fit 72 ranks with 896 uneven slots as well as with 936 even ones', () => {
  const loads = Array.from({ length: 896 }, (_, e) => 1 + (e % 7));
  for (const slots of [896, 936]) {
    const placement = eplb.place(inputOf(loads, 72, slots), {});
    expect(placement.slotExpert.length).toBe(slots);
    expect(new Set(placement.slotExpert).size).toBe(896);
  }
  expect([...evenSlots(896, 72)].filter((s) => s === 13).length).toBe(32);
});
