import {
  buildTopology,
  bytesPerTier,
  domainMap,
  forwardPerNode,
  hottestLinks,
  linkUse,
  networkModels,
  peerIn,
  unevenExchange,
} from '@epsim/network';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyBytes, anyClusterOf } from './arbitrary.js';
import { cluster, matrix } from './clusters.js';

const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0);

test('a row crosses once per domain, lands on the same place, and is spread from there', () => {
  const topology = buildTopology(cluster({ ranks: 8, domainRanks: 4 }));
  // Rank 1 sends one row to ranks 2, 4, 6 and 7: once inside its domain, once across.
  const perRank = matrix(8, (from, to) => (from === 1 && [2, 4, 6, 7].includes(to) ? 1 : 0));
  const perDomain = new Float64Array(16);
  perDomain[1 * 2 + 1] = 1;
  const { across, within } = forwardPerNode(topology, perDomain, perRank);
  const pairs = (rows: Float64Array) =>
    [...rows].flatMap((n, pair) => (n > 0 ? [[pair >> 3, pair & 7, n]] : []));
  expect(pairs(across)).toEqual([[1, 5, 1]]);
  expect(pairs(within)).toEqual([
    [1, 2, 1],
    [5, 4, 1],
    [5, 6, 1],
    [5, 7, 1],
  ]);
});

test('forwarding delivers to every rank what it is owed, crosses only between domains and spreads only inside', () => {
  fc.assert(
    fc.property(
      anyClusterOf('nvlink-domain').chain((spec) => fc.tuple(fc.constant(spec), anyBytes(spec.rankCount))),
      ([spec, perRank]) => {
        const topology = buildTopology(spec);
        const ranks = topology.rankCount;
        const map = domainMap(topology);
        const perDomain = new Float64Array(ranks * map.domainCount);
        for (let from = 0; from < ranks; from++) {
          for (let to = 0; to < ranks; to++) {
            const at = from * map.domainCount + topology.domainOf(to);
            perDomain[at] = Math.max(perDomain[at], perRank[from * ranks + to]);
          }
        }
        const { across, within } = forwardPerNode(topology, perDomain, perRank);
        const column = (rows: Float64Array, to: number) => sum(rows.filter((_, pair) => pair % ranks === to));
        for (let to = 0; to < ranks; to++) {
          expect(column(within, to)).toBeCloseTo(column(perRank, to), 3);
        }
        for (let from = 0; from < ranks; from++) {
          for (let to = 0; to < ranks; to++) {
            const same = topology.domainOf(from) === topology.domainOf(to);
            expect((same ? across : within)[from * ranks + to]).toBe(0);
          }
        }
        expect(sum(across)).toBeLessThanOrEqual(bytesPerTier(topology, perRank).scaleOut * (1 + 1e-12));
      },
    ),
    { numRuns: 50 },
  );
});

test('in a smaller last domain places are counted round', () => {
  const options = { unevenLastDomain: true };
  const topology = buildTopology(cluster({ ranks: 10, domainRanks: 4, options }));
  const map = domainMap(topology);
  expect([...map.offsets]).toEqual([0, 4, 8, 10]);
  expect([0, 1, 2, 3].map((rank) => peerIn(topology, map, rank, 2))).toEqual([8, 9, 8, 9]);
});

test('shapes that do not fit are refused with both', () => {
  const topology = buildTopology(cluster({ ranks: 8, domainRanks: 4 }));
  expect(() => forwardPerNode(topology, new Float64Array(8), new Float64Array(64))).toThrow(
    /perDomain has 8 and perRank 64 entries, the topology 8 ranks in 2 domains/,
  );
});

test('tiers split the bytes of all pairs, the diagonal being local', () => {
  const topology = buildTopology(cluster({ ranks: 4, domainRanks: 2 }));
  const bytes = new Float64Array(16).fill(10);
  expect(bytesPerTier(topology, bytes)).toEqual({ local: 40, scaleUp: 40, scaleOut: 80 });
});

test('the hottest links come by name, busiest first, and idle ones not at all', () => {
  const topology = buildTopology(cluster({ ranks: 4 }));
  const bytes = matrix(4, (from, to) => (to === 2 && from !== 3 ? 1e6 : 0));
  const transfer = networkModels['fair-share'].transfer(topology, bytes);
  const hot = hottestLinks(topology, transfer, 10);
  expect(hot.map((link) => link.name)).toEqual([
    'rank2.scale-up.in',
    'rank0.scale-up.out',
    'rank1.scale-up.out',
  ]);
  expect(hot[0]).toMatchObject({ tier: 'scale-up', bytes: 2e6, busyNs: 20_000, busyFraction: 1 });
  expect(linkUse(topology, transfer)).toHaveLength(8);
});

test('the sample exchange is uneven, about as large as asked, and the same each time', () => {
  const bytes = unevenExchange(32, 1000);
  const sent = bytes.filter((value) => value > 0);
  expect(sent).toHaveLength(32 * 31);
  expect(new Set(sent).size).toBeGreaterThan(900);
  expect(sum(sent) / sent.length).toBeGreaterThan(900);
  expect(sum(sent) / sent.length).toBeLessThan(1100);
  expect(unevenExchange(32, 1000)).toEqual(bytes);
});
