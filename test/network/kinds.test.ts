import { buildTopology, networkModels, type Topology } from '@epsim/network';
import { describe, expect, test } from 'vitest';
import { type ClusterSketch, cluster, linkSpec, matrix } from './clusters.js';

const MB = 1e6;

function namesOf(topology: Topology, from: number, to: number): string[] {
  const path = new Int32Array(topology.maxHops);
  return [...path.subarray(0, topology.path(from, to, path))].map((link) => topology.links[link].name);
}

function timeOf(sketch: ClusterSketch, bytes: Float64Array): number {
  const topology = buildTopology(cluster(sketch));
  const bound = networkModels.bound.transfer(topology, bytes).ns;
  const fair = networkModels['fair-share'].transfer(topology, bytes).ns;
  expect(fair / bound).toBeCloseTo(1, 10);
  return fair;
}

describe('trees', () => {
  // Each of 4 domains of 2 ranks sends 1 MB to every rank of the next domain: 4 MB per domain over 2 x 10 GB/s.
  const shift = matrix(8, (from, to) => (((from >> 1) + 1) % 4 === to >> 1 ? MB : 0));
  const base = { ranks: 8, domainRanks: 2 };

  test.each([1, 2, 4])('a leaf-spine network at %d:1 takes that many times as long', (oversubscription) => {
    const ns = timeOf({ ...base, kind: 'leaf-spine', options: { oversubscription } }, shift);
    expect(ns).toBeCloseTo(200_000 * oversubscription, 6);
  });

  test('what stays below a leaf does not feel the spine', () => {
    const pairs = matrix(8, (from, to) => (((from >> 1) ^ 1) === to >> 1 ? MB : 0));
    const options = { domainsPerLeaf: 2, oversubscription: 4 };
    expect(timeOf({ ...base, kind: 'leaf-spine', options }, pairs)).toBeCloseTo(200_000, 6);
  });

  test('a fat-tree climbs only as far as it must', () => {
    const options = { domainsPerLeaf: 1, leavesPerPod: 2 };
    const topology = buildTopology(cluster({ ...base, kind: 'fat-tree', options }));
    expect(namesOf(topology, 0, 2)).toEqual([
      'domain0.nic0.out',
      'leaf0.up',
      'leaf1.down',
      'domain1.nic0.in',
    ]);
    expect(namesOf(topology, 0, 7)).toEqual([
      'domain0.nic0.out',
      'leaf0.up',
      'pod0.up',
      'pod1.down',
      'leaf3.down',
      'domain3.nic1.in',
    ]);
  });

  test('racks share one uplink each', () => {
    const topology = buildTopology(cluster({ ...base, kind: 'racks', options: { oversubscription: 2 } }));
    expect(namesOf(topology, 1, 2)).toEqual([
      'domain0.nic1.out',
      'rack0.up',
      'rack1.down',
      'domain1.nic0.in',
    ]);
    expect(topology.links.find((link) => link.name === 'rack0.up')?.bytesPerSec).toBe(10e9);
  });
});

describe('rails', () => {
  const base = { kind: 'rail-optimized', ranks: 8, domainRanks: 4 };

  test('the same place is reached directly, another place over scale-up first', () => {
    const topology = buildTopology(cluster(base));
    expect(namesOf(topology, 1, 5)).toEqual(['domain0.nic1.out', 'domain1.nic1.in']);
    expect(namesOf(topology, 1, 7)).toEqual([
      'rank1.scale-up.out',
      'rank3.scale-up.in',
      'domain0.nic3.out',
      'domain1.nic3.in',
    ]);
  });

  test('with a spine another place is reached through the trunks of both rails', () => {
    const topology = buildTopology(
      cluster({ ...base, options: { crossRail: 'spine', oversubscription: 2 } }),
    );
    expect(namesOf(topology, 1, 7)).toEqual([
      'domain0.nic1.out',
      'rail1.up',
      'rail3.down',
      'domain1.nic3.in',
    ]);
    expect(topology.links.find((link) => link.name === 'rail1.up')?.bytesPerSec).toBe(10e9);
  });

  test('forwarding spreads one busy sender over the interfaces of its domain', () => {
    const spread = matrix(8, (from, to) => (from === 0 && to >= 4 ? MB : 0));
    expect(timeOf(base, spread)).toBeCloseTo(100_000, 6);
    expect(timeOf({ ...base, options: { crossRail: 'spine' } }, spread)).toBeCloseTo(400_000, 6);
  });
});

test('dragonfly groups share one trunk for each other group', () => {
  // 4 groups of one domain of 2 ranks: a group sends at 20 GB/s in all, a third of it to each other group.
  const base = { kind: 'dragonfly', ranks: 8, domainRanks: 2, options: { domainsPerGroup: 1 } };
  const topology = buildTopology(cluster(base));
  expect(namesOf(topology, 0, 7)).toEqual(['domain0.nic0.out', 'group0-group3', 'domain3.nic1.in']);
  const even = matrix(8, (from, to) => (from >> 1 === to >> 1 ? 0 : MB));
  expect(timeOf(base, even)).toBeCloseTo(600_000, 6);
  const toOne = matrix(8, (from, to) => (from >> 1 === 0 && to >> 1 === 3 ? MB : 0));
  expect(timeOf(base, toOne)).toBeCloseTo(600_000, 6);
});

describe('torus', () => {
  const base = { kind: 'torus-2d', ranks: 16, options: { dims: [4, 4] } };

  test('a flow goes ring by ring, the shorter way', () => {
    const topology = buildTopology(cluster(base));
    expect(namesOf(topology, 0, 3)).toEqual(['rank0.x-']);
    expect(namesOf(topology, 0, 5)).toEqual(['rank0.x+', 'rank1.y+']);
    expect(namesOf(topology, 0, 13)).toEqual(['rank0.x+', 'rank1.y-']);
  });

  test('an even exchange loads every link of a square torus alike', () => {
    // In a ring of 4 a rank is 4/4 hops from the others on average: 16 places x 1 hop per axis, over 2 links.
    const topology = buildTopology(cluster(base));
    const transfer = networkModels.bound.transfer(
      topology,
      matrix(16, () => MB),
    );
    expect(new Set(transfer.linkBytes)).toEqual(new Set([8 * MB]));
    expect(transfer.ns).toBeCloseTo((8 * MB * 1e9) / 25e9, 6);
  });

  test('a torus-3d has as many hops as its rings say and pays latency for each', () => {
    const options = { dims: [4, 4, 2] };
    const spec = cluster({ kind: 'torus-3d', ranks: 32, options, scaleUp: linkSpec(100e9, 100) });
    const topology = buildTopology(spec);
    expect(topology.maxHops).toBeGreaterThanOrEqual(5);
    const path = new Int32Array(topology.maxHops);
    expect(topology.path(0, 2 + 4 * 2 + 16, path)).toBe(5);
    const one = matrix(32, (from, to) => (from === 0 && to === 26 ? 20 : 0));
    expect(networkModels.bound.transfer(topology, one).ns).toBeCloseTo(501, 6);
  });
});

test('a full mesh gives each pair its part of the rate of a rank', () => {
  const topology = buildTopology(cluster({ kind: 'full-mesh', ranks: 8, scaleUp: linkSpec(448e9) }));
  expect(topology.links).toHaveLength(56);
  expect(topology.links[0].bytesPerSec).toBe(64e9);
  expect(
    timeOf(
      { kind: 'full-mesh', ranks: 5 },
      matrix(5, (from) => (from === 0 ? MB : 0)),
    ),
  ).toBeCloseTo(40_000, 6);
});

test('any link can be degraded by its name', () => {
  const options = { oversubscription: 1, degraded: { 'leaf1.down': 0.25 } };
  const shift = matrix(4, (from, to) => (from < 2 && to >= 2 ? MB : 0));
  expect(timeOf({ kind: 'leaf-spine', ranks: 4, domainRanks: 2, options }, shift)).toBeCloseTo(800_000, 6);
});

test('the usable rate is the nominal rate times what is achieved times what an override leaves', () => {
  const overrides = [{ rank: 1, scaleUp: 0.5 }];
  const topology = buildTopology(cluster({ ranks: 2, scaleUp: linkSpec(100e9, 0, 0.8), overrides }));
  expect(topology.links.map((link) => link.bytesPerSec / 1e9)).toEqual([80, 80, 40, 40]);
});
