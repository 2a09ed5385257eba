import {
  buildTopology,
  flowEnds,
  flowEndsNaive,
  listFlows,
  maxMinRates,
  networkModels,
  type Topology,
  topologyKinds,
  unevenExchange,
  WINDOW_TOLERANCE,
} from '@epsim/network';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyBytes, anyClusterOf } from './arbitrary.js';
import { cluster, linkSpec, matrix } from './clusters.js';

const MB = 1e6;
const fair = networkModels['fair-share'];

const capacityOf = (topology: Topology): Float64Array =>
  Float64Array.from(topology.links, (link) => link.bytesPerSec / 1e9);

const anyExchange = (kind: string) =>
  anyClusterOf(kind, 2).chain((spec) => fc.tuple(fc.constant(spec), anyBytes(spec.rankCount)));

describe('closed forms', () => {
  test('senders of unequal sizes to one receiver end one after another, as under processor sharing', () => {
    const sizes = [1, 2, 3, 7].map((size) => size * MB);
    const topology = buildTopology(cluster({ ranks: 5 }));
    const transfer = fair.transfer(
      topology,
      matrix(5, (from, to) => (to === 4 ? sizes[from] : 0)),
    );
    // Ends at (sum of min(size, own size)) / rate.
    const ends = sizes.map((own) => sizes.reduce((sum, size) => sum + Math.min(size, own), 0) / 100);
    for (let rank = 0; rank < 4; rank++) expect(transfer.sentNs[rank] / ends[rank]).toBeCloseTo(1, 12);
    expect(transfer.ns / ends[3]).toBeCloseTo(1, 12);
    expect(transfer.relTolerance).toBe(0);
  });

  test('an even exchange through one switch takes what one port takes, at 4 ranks and at 300', () => {
    for (const ranks of [4, 300]) {
      const topology = buildTopology(cluster({ ranks, scaleUp: linkSpec(100e9, 700) }));
      const transfer = fair.transfer(
        topology,
        matrix(ranks, () => MB),
      );
      expect(transfer.ns / (700 + (ranks - 1) * 10_000)).toBeCloseTo(1, 12);
      expect(transfer.relTolerance).toBe(0);
    }
  });

  test('a flow beside a hot receiver gets what the hot flow leaves of its sender', () => {
    // 0, 1 and 2 send 3 MB to 3; 0 sends 4 MB to 4 too. Port of 3: a third each; the port of 0 leaves two thirds.
    const topology = buildTopology(cluster({ ranks: 5 }));
    const bytes = matrix(5, (from, to) =>
      to === 3 && from < 3 ? 3 * MB : from === 0 && to === 4 ? 4 * MB : 0,
    );
    const transfer = fair.transfer(topology, bytes);
    expect(transfer.receivedNs[3] / 90_000).toBeCloseTo(1, 12);
    expect(transfer.receivedNs[4] / 60_000).toBeCloseTo(1, 12);
  });

  test('bandwidth freed by a flow that ends goes to those that it held back', () => {
    // 0 sends 1 MB to 2 and 3 MB to 3 at 50 each; at 20 us the first ends, and the other has 2 MB left at 100.
    const topology = buildTopology(cluster({ ranks: 4 }));
    const bytes = matrix(4, (from, to) => (from === 0 ? [0, 0, MB, 3 * MB][to] : 0));
    const transfer = fair.transfer(topology, bytes);
    expect([...transfer.receivedNs]).toEqual([0, 0, 20_000, 40_000]);
  });

  test('ranks that share an interface share its rate', () => {
    const options = { nicsPerDomain: 1 };
    const topology = buildTopology(cluster({ ranks: 4, domainRanks: 2, options }));
    const bytes = matrix(4, (from, to) =>
      from === 0 && to === 2 ? MB : from === 1 && to === 3 ? 3 * MB : 0,
    );
    const transfer = fair.transfer(topology, bytes);
    expect(transfer.sentNs[0] / 200_000).toBeCloseTo(1, 12);
    expect(transfer.sentNs[1] / 400_000).toBeCloseTo(1, 12);
  });

  test('a rank at half rate delays those who hear from it and nobody else', () => {
    const topology = buildTopology(cluster({ ranks: 4, overrides: [{ rank: 0, scaleUp: 0.5 }] }));
    const ring = matrix(4, (from, to) => ((from + 1) % 4 === to ? MB : 0));
    expect([...fair.transfer(topology, ring).receivedNs]).toEqual([20_000, 20_000, 10_000, 10_000]);
  });
});

describe.each(Object.keys(topologyKinds))('fair sharing on %s', (kind) => {
  const RUNS = { numRuns: 25 };

  test('ends every flow when the naive form does', () => {
    fc.assert(
      fc.property(anyExchange(kind), ([spec, bytes]) => {
        const topology = buildTopology(spec);
        const flows = listFlows(topology, bytes);
        const fast = flowEnds(flows, capacityOf(topology)).endNs;
        const naive = flowEndsNaive(flows, capacityOf(topology));
        for (let flow = 0; flow < flows.count; flow++) {
          expect(Math.abs(fast[flow] - naive[flow])).toBeLessThanOrEqual(1e-9 * naive[flow]);
        }
      }),
      RUNS,
    );
  });

  test('fills no link beyond its capacity, and gives each flow a full link where no other is faster', () => {
    fc.assert(
      fc.property(anyExchange(kind), ([spec, bytes]) => {
        const topology = buildTopology(spec);
        const flows = listFlows(topology, bytes);
        const capacity = capacityOf(topology);
        const rates = maxMinRates(
          flows,
          capacity,
          new Uint8Array(flows.count).fill(1),
          new Float64Array(flows.count),
        );
        const used = new Float64Array(capacity.length);
        const fastest = new Float64Array(capacity.length);
        const linksOf = (flow: number) =>
          flows.pathLinks.subarray(flows.pathOffsets[flow], flows.pathOffsets[flow + 1]);
        for (let flow = 0; flow < flows.count; flow++) {
          for (const link of linksOf(flow)) {
            used[link] += rates[flow];
            fastest[link] = Math.max(fastest[link], rates[flow]);
          }
        }
        for (let link = 0; link < used.length; link++)
          expect(used[link]).toBeLessThanOrEqual(capacity[link] * (1 + 1e-9));
        for (let flow = 0; flow < flows.count; flow++) {
          const held = linksOf(flow).some(
            (link) => used[link] >= capacity[link] * (1 - 1e-9) && rates[flow] >= fastest[link] * (1 - 1e-9),
          );
          expect(held).toBe(true);
        }
      }),
      RUNS,
    );
  });

  test('is never faster than the bound, nor than any flow alone, with and without message costs', () => {
    const anyCosts = fc.option(
      fc.record({ startNs: fc.nat(5000), perMessageNs: fc.nat(100), notifyNs: fc.nat(1000) }),
      { nil: undefined },
    );
    fc.assert(
      fc.property(anyExchange(kind), anyCosts, ([spec, bytes], costs) => {
        const topology = buildTopology(spec);
        const transfer = fair.transfer(topology, bytes, costs);
        const bound = networkModels.bound.transfer(topology, bytes, costs);
        expect(transfer.ns).toBeGreaterThanOrEqual(bound.ns * (1 - 1e-9));
        expect(transfer.linkBytes).toEqual(bound.linkBytes);
        const path = new Int32Array(topology.maxHops);
        for (let from = 0; from < topology.rankCount; from++) {
          for (let to = 0; to < topology.rankCount; to++) {
            const pairBytes = bytes[from * topology.rankCount + to];
            if (from === to || pairBytes === 0) continue;
            const links = [...path.subarray(0, topology.path(from, to, path))].map((l) => topology.links[l]);
            const latency = links.reduce((sum, link) => sum + link.latencyNs, 0);
            const rate = Math.min(...links.map((link) => link.bytesPerSec));
            const alone = (costs?.startNs ?? 0) + latency + (pairBytes / rate) * 1e9;
            expect(transfer.receivedNs[to]).toBeGreaterThanOrEqual(alone * (1 - 1e-9));
          }
        }
      }),
      RUNS,
    );
  });
});

describe('stretches of time instead of single ends', () => {
  const last = (ends: Float64Array) => ends.reduce((latest, end) => Math.max(latest, end), 0);

  test.each(Object.keys(topologyKinds))(
    'never beat the busiest link on %s, and end near the naive form',
    (kind) => {
      fc.assert(
        fc.property(anyExchange(kind), ([spec, bytes]) => {
          const topology = buildTopology(spec);
          const flows = listFlows(topology, bytes);
          fc.pre(flows.count > 0);
          const capacity = capacityOf(topology);
          const { linkBytes } = networkModels.bound.transfer(topology, bytes);
          const ends = last(flowEnds(flows, capacity, 4).endNs);
          const naive = last(flowEndsNaive(flows, capacity));
          expect(ends).toBeGreaterThanOrEqual(
            last(linkBytes.map((sum, link) => sum / capacity[link])) * (1 - 1e-9),
          );
          // A handful of flows is the worst case for stretches; the tolerance that is promised is tested below.
          expect(Math.abs(ends / naive - 1)).toBeLessThan(0.1);
        }),
        { numRuns: 25 },
      );
    },
  );

  const overrides = [
    { rank: 3, scaleUp: 0.6, nic: 0.6 },
    { rank: 9, scaleUp: 0.8, nic: 0.5 },
  ];
  const sketches = [
    { kind: 'nvlink-domain', domainRanks: 40 },
    { kind: 'nvlink-domain', domainRanks: 8, options: { nicsPerDomain: 4 } },
    { kind: 'rail-optimized', domainRanks: 8, overrides },
    { kind: 'leaf-spine', domainRanks: 8, options: { oversubscription: 2 } },
    { kind: 'fat-tree', domainRanks: 8, options: { leavesPerPod: 2, leafOversubscription: 2 }, overrides },
    { kind: 'dragonfly', domainRanks: 8, options: { domainsPerGroup: 2 }, overrides },
    {
      kind: 'leaf-spine',
      domainRanks: 8,
      options: { degraded: { 'leaf1.up': 0.5, 'domain2.nic3.in': 0.4 } },
    },
    { kind: 'torus-2d', domainRanks: 40, options: { dims: [5, 8] }, overrides },
    { kind: 'torus-3d', domainRanks: 40, options: { dims: [4, 5, 2] } },
  ];
  const chance = (rank: number, salt: number) => (rank * Math.SQRT2 + rank * rank * Math.E + salt) % 1;
  const pair = (from: number, to: number) => chance(from * 40 + to, 0.5);
  const exchanges = {
    'no two pairs alike': unevenExchange(40, MB),
    'a power law of sizes': matrix(40, (from, to) => 1e5 * (1e-4 + pair(from, to)) ** -0.8),
    'some hot receivers': matrix(
      40,
      (from, to) => (0.5 + pair(from, to)) * MB * (0.01 + chance(to, 0)) ** -0.5,
    ),
    'one hot receiver': matrix(40, (from, to) => (to === 3 ? 4 : 1) * (0.8 + 0.4 * pair(from, to)) * MB),
    'one receiver after another hotter': matrix(
      40,
      (from, to) => (10 * MB * (0.5 + pair(from, to))) / (1 + ((to * 7) % 40)),
    ),
  };
  const shapes = sketches.flatMap((sketch) =>
    Object.keys(exchanges).map((exchange) => ({ ...sketch, exchange: exchange as keyof typeof exchanges })),
  );

  test.each(shapes)(
    'time $exchange between 40 ranks on $kind as single ends do',
    ({ exchange, ...sketch }) => {
      const topology = buildTopology(cluster({ ...sketch, ranks: 40 }));
      const flows = listFlows(topology, exchanges[exchange]);
      const capacity = capacityOf(topology);
      const exact = flowEnds(flows, capacity, Number.POSITIVE_INFINITY);
      const windows = flowEnds(flows, capacity);
      expect(exact.relTolerance).toBe(0);
      expect(windows.relTolerance).toBe(WINDOW_TOLERANCE);
      expect(Math.abs(last(windows.endNs) / last(exact.endNs) - 1)).toBeLessThan(WINDOW_TOLERANCE);
      const ownEnds = (ends: Float64Array, rankOf: Int32Array) => {
        const own = new Float64Array(40);
        for (let flow = 0; flow < flows.count; flow++)
          own[rankOf[flow]] = Math.max(own[rankOf[flow]], ends[flow]);
        return own;
      };
      for (const rankOf of [flows.from, flows.to]) {
        const own = ownEnds(exact.endNs, rankOf);
        for (const [rank, end] of ownEnds(windows.endNs, rankOf).entries())
          expect(Math.abs(end - own[rank])).toBeLessThan(0.05 * last(exact.endNs));
      }
    },
  );
});
