import {
  loadSolver,
  type PlacementPolicyName,
  placementPolicies,
  placeTable,
  readPlacement,
  writePlacement,
} from '@epsim/placement';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';

const README = [
  [90, 132, 40, 61, 104, 165, 39, 4, 73, 56, 183, 86],
  [20, 107, 104, 64, 19, 197, 187, 157, 172, 86, 16, 27],
];
const names = Object.keys(placementPolicies) as PlacementPolicyName[];

beforeAll(loadSolver);

describe('the published example', () => {
  const table = placeTable(README, { policy: 'eplb', slots: 16, ranks: 8, nodes: 2, groups: 4 });

  test('gives the published maps', () => {
    expect(table.physicalToLogical).toEqual([
      [5, 6, 5, 7, 8, 4, 3, 4, 10, 9, 10, 2, 0, 1, 11, 1],
      [7, 10, 6, 8, 6, 11, 8, 9, 2, 4, 5, 1, 5, 0, 3, 1],
    ]);
    expect(table.logicalCount[0]).toEqual([1, 2, 1, 1, 2, 2, 1, 1, 1, 1, 2, 1]);
    expect(table.balancedness[0]).toBeCloseTo(0.827724, 6);
    expect(table.balancedness[1]).toBeCloseTo(0.805014, 6);
    expect(table.moves).toBeUndefined();
  });

  test('lists the slots of an expert in the order in which its replicas were made', () => {
    expect(table.logicalToPhysical[0][5]).toEqual([0, 2]);
    expect(table.logicalToPhysical[0][7]).toEqual([3, -1]);
    table.physicalToLogical.forEach((row, layer) => {
      row.forEach((expert, slot) => {
        expect(table.logicalToPhysical[layer][expert]).toContain(slot);
      });
    });
  });
});

test('every policy places a table, and each map says the same', () => {
  const loads = fc.integer({ min: 1, max: 12 }).chain((experts) =>
    fc.array(fc.array(fc.nat({ max: 50 }), { minLength: experts, maxLength: experts }), {
      minLength: 1,
      maxLength: 3,
    }),
  );
  fc.assert(
    fc.property(loads, fc.constantFrom(...names), fc.integer({ min: 1, max: 5 }), (rows, policy, ranks) => {
      const table = placeTable(rows, { policy, ranks });
      table.physicalToLogical.forEach((row, layer) => {
        const counts = rows[0].map((_, expert) => row.filter((e) => e === expert).length);
        expect(table.logicalCount[layer]).toEqual(counts);
        expect(Math.min(...counts)).toBeGreaterThanOrEqual(1);
        table.logicalToPhysical[layer].forEach((slots, expert) => {
          const used = slots.filter((slot) => slot >= 0);
          expect(used.map((slot) => row[slot])).toEqual(used.map(() => expert));
          expect(used.length).toBe(counts[expert]);
        });
        expect(table.balancedness[layer]).toBeGreaterThan(0);
        expect(table.balancedness[layer]).toBeLessThanOrEqual(1 + 1e-9);
        if (rows[layer].every((load) => load === 0)) expect(table.balancedness[layer]).toBe(1);
      });
    }),
    { numRuns: 150 },
  );
});

test('a layer without load is balanced, and its experts still have slots', () => {
  const table = placeTable([[0, 0, 0, 0]], { policy: 'eplb', ranks: 2, slots: 6 });
  expect(table.balancedness).toEqual([1]);
  expect(table.balancednessBefore).toEqual([1]);
  expect(Math.min(...table.logicalCount[0])).toBe(1);
});

test('balance is measured per layer: two layers that lean apart do not cancel', () => {
  // Rank loads [300, 100] and [100, 300]; summed over layers they would look even.
  const loads = [
    [300, 100],
    [100, 300],
  ];
  const table = placeTable(loads, { policy: 'contiguous', ranks: 2 });
  for (const balance of table.balancedness) expect(balance).toBeCloseTo(0.6667, 4);
  const even = placeTable(
    [
      [100, 200],
      [100, 200],
    ],
    { policy: 'contiguous', ranks: 2 },
  );
  expect(even.balancedness).toEqual([0.75, 0.75]);
});

test('counts replicas that share a rank', () => {
  const loads = [[1000, 0, 0, 0, 0, 0, 0, 0]];
  expect(placeTable(loads, { policy: 'eplb', ranks: 4, slots: 12 })).toMatchObject({
    balancedness: [0.625],
    duplicatesOnRank: 1,
  });
  expect(placeTable(loads, { policy: 'eplb-distinct', ranks: 4, slots: 12 })).toMatchObject({
    balancedness: [1],
    duplicatesOnRank: 0,
  });
});

test('slots that do not divide are spread, and too few are refused with the least', () => {
  expect(placeTable([new Array(30).fill(1)], { policy: 'eplb', ranks: 8, slots: 30 }).slotsPerRank).toEqual([
    4, 4, 4, 4, 4, 4, 3, 3,
  ]);
  expect(
    placeTable([new Array(896).fill(1)], { policy: 'eplb', ranks: 72 }).physicalToLogical[0].length,
  ).toBe(936);
  expect(() => placeTable([new Array(896).fill(1)], { policy: 'eplb', ranks: 72, slots: 864 })).toThrow(
    'too few slots: 72 ranks x 12 = 864 < 896 experts; use 13 or more per rank',
  );
});

test('moves are counted against the placement in use, and slots keep their experts where they can', () => {
  const first = placeTable(README, { policy: 'eplb', slots: 16, ranks: 8 });
  const again = placeTable(README, {
    policy: 'eplb',
    slots: 16,
    ranks: 8,
    previous: first.physicalToLogical,
  });
  expect(again.moves).toEqual([0, 0]);
  expect(again.physicalToLogical).toEqual(first.physicalToLogical);
  expect(again.balancednessBefore).toEqual(again.balancedness);
  const swapped = placeTable([README[1], README[0]], {
    policy: 'eplb',
    slots: 16,
    ranks: 8,
    previous: first.physicalToLogical,
  });
  swapped.physicalToLogical.forEach((row, layer) => {
    const changed = row.filter((expert, slot) => expert !== first.physicalToLogical[layer][slot]).length;
    expect(swapped.moves?.[layer]).toBe(changed);
    expect(changed).toBeGreaterThan(0);
  });
});

test('policies that split show what they reach on the loads as one batch', () => {
  expect(placeTable(README, { policy: 'balanced', ranks: 3 }).balancedness[0]).toBeGreaterThan(0.99);
  expect(
    placeTable([[0.5, 0.25, 0.125, 0.125]], { policy: 'balanced', ranks: 4 }).balancedness[0],
  ).toBeCloseTo(1, 5);
});

test.each<[object, string]>([
  [{ policy: 'eplbb' }, 'unknown placement policy: eplbb; known: contiguous, round-robin, random, eplb'],
  [{ policy: 'constructor' }, 'unknown placement policy: constructor'],
  [{ policy: 'random', groups: 4 }, 'placement policy random knows no groups; eplb does'],
  [
    {
      policy: 'eplb',
      previous: [
        [0, 1],
        [0, 1],
      ],
    },
    'previous layer 0 has 2 slots, expected 16',
  ],
])('%j is refused: %s', (change, message) => {
  expect(() => placeTable(README, { policy: 'eplb', ranks: 8, ...change })).toThrow(message);
  expect(() => placeTable(README, { policy: 'eplb', ranks: 8, ...change })).toThrow(RangeError);
});

describe('placements for engines', () => {
  const table = placeTable(README, { policy: 'eplb', slots: 16, ranks: 8 });

  test('read back as they were written', () => {
    for (const format of ['sglang', 'vllm'] as const) {
      expect(readPlacement(writePlacement(table, format))).toEqual(table.physicalToLogical);
    }
    expect(readPlacement(JSON.stringify(table))).toEqual(table.physicalToLogical);
    expect(readPlacement(JSON.stringify(parse(writePlacement(table, 'trtllm', 3))))).toEqual(
      table.physicalToLogical,
    );
  });

  test('SGLang counts dense layers too', () => {
    const { physical_to_logical_map: map } = JSON.parse(writePlacement(table, 'sglang', 1));
    expect(map.length).toBe(3);
    expect(map.slice(1)).toEqual(table.physicalToLogical);
  });

  test('TensorRT-LLM is YAML with the layer numbers of the model', () => {
    const yaml = parse(writePlacement(table, 'trtllm', 3));
    expect(yaml.num_slots).toBe(16);
    expect(yaml.layer_updates_per_iter).toBe(0);
    expect(Object.keys(yaml.initial_global_assignments)).toEqual(['3', '4']);
    expect(yaml.initial_global_assignments[3]).toEqual(table.physicalToLogical[0]);
  });

  test('what an engine cannot load is refused', () => {
    expect(() => writePlacement(placeTable(README, { policy: 'eplb', ranks: 8, slots: 15 }), 'vllm')).toThrow(
      'vllm needs equally many slots on every rank, these are 2, 2, 2, 2, 2, 2, 2, 1',
    );
    expect(() =>
      writePlacement(placeTable([[1, 1]], { policy: 'contiguous', ranks: 1, slots: 3 }), 'sglang'),
    ).toThrow('sglang needs an expert in every slot; layer 0 slot 2 is empty');
    expect(() => readPlacement('{')).toThrow('placement: not JSON');
    expect(() => readPlacement('{"a": 1}')).toThrow('placement: expected [layers][slots]');
  });
});

test('a table of loads is not taken for the placement in use', () => {
  const loads = [[5, 4, 3, 2, 1, 1, 1, 1]];
  expect(() => placeTable(loads, { policy: 'eplb', ranks: 2, previous: loads })).toThrow(
    /previous layer 0 has no slot for expert 0; is it a placement\?/,
  );
});
