import { buildTopology, topologyKinds } from '@epsim/network';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyClusterOf } from './arbitrary.js';
import { cluster, linkSpec } from './clusters.js';

const RUNS = { numRuns: 40 };

describe.each(Object.keys(topologyKinds))('topology %s', (kind) => {
  test('every pair of ranks has a way over usable links, within the promised number of hops', () => {
    fc.assert(
      fc.property(anyClusterOf(kind), (spec) => {
        const topology = buildTopology(spec);
        const path = new Int32Array(topology.maxHops);
        for (let from = 0; from < topology.rankCount; from++) {
          for (let to = 0; to < topology.rankCount; to++) {
            const hops = topology.path(from, to, path);
            expect(hops === 0).toBe(from === to);
            expect(hops).toBeLessThanOrEqual(topology.maxHops);
            for (let hop = 0; hop < hops; hop++) {
              expect(topology.links[path[hop]].bytesPerSec).toBeGreaterThan(0);
            }
          }
        }
      }),
      RUNS,
    );
  });

  test('a pair is scale-up exactly when it shares a domain, and its way then stays on scale-up links', () => {
    fc.assert(
      fc.property(anyClusterOf(kind), (spec) => {
        const topology = buildTopology(spec);
        const path = new Int32Array(topology.maxHops);
        for (let from = 0; from < topology.rankCount; from++) {
          for (let to = 0; to < topology.rankCount; to++) {
            if (from === to) continue;
            const same = topology.domainOf(from) === topology.domainOf(to);
            expect(topology.tierOf(from, to)).toBe(same ? 'scale-up' : 'scale-out');
            const tiers = [...path.subarray(0, topology.path(from, to, path))].map(
              (l) => topology.links[l].tier,
            );
            expect(tiers.includes('scale-out')).toBe(!same);
          }
        }
      }),
      RUNS,
    );
  });

  test('link names are unique', () => {
    fc.assert(
      fc.property(anyClusterOf(kind), (spec) => {
        const names = buildTopology(spec).links.map((link) => link.name);
        expect(new Set(names).size).toBe(names.length);
      }),
      RUNS,
    );
  });

  test('a rank whose interface is down is reached through another interface of its domain', () => {
    fc.assert(
      fc.property(anyClusterOf(kind), (spec) => {
        fc.pre(spec.rankCount > spec.topology.domainRanks && !('nicsPerDomain' in spec.topology.options));
        const topology = buildTopology({ ...spec, overrides: [{ rank: 0, nic: 0 }] });
        const path = new Int32Array(topology.maxHops);
        const away = spec.topology.domainRanks;
        const names = [...path.subarray(0, topology.path(0, away, path))].map((l) => topology.links[l].name);
        expect(names).toContain('domain0.nic1.out');
        expect(names).not.toContain('domain0.nic0.out');
        const back = [...path.subarray(0, topology.path(away, 0, path))].map((l) => topology.links[l].name);
        expect(back).toContain('domain0.nic1.in');
      }),
      RUNS,
    );
  });
});

describe('what is no network is refused with the field and the repair', () => {
  test.each([
    [{ ranks: 12, domainRanks: 8 }, /domainRanks: uneven domains: 12 ranks.*8 or 16 ranks/],
    [{ ranks: 16, domainRanks: 8, scaleOut: null }, /scaleOut: missing: 2 domains that nothing joins/],
    [{ ranks: 4, scaleUp: linkSpec(0) }, /scaleUp\.bandwidth: zero or missing bandwidth: 0; give/],
    [{ ranks: 4, scaleUp: linkSpec(Number.NaN) }, /scaleUp\.bandwidth: zero or missing/],
    [{ ranks: 4, scaleUp: linkSpec(1e9, -5) }, /scaleUp\.latency: negative or missing latency: -5/],
    [{ ranks: 4, scaleOut: linkSpec(1e9, 0, 1.5) }, /scaleOut\.achieved\.fraction: out of range: 1.5/],
    [{ ranks: 0, domainRanks: 8 }, /cluster\.ranks: not a number of ranks: 0/],
    [{ ranks: 8, domainRanks: 0 }, /domainRanks: not a number of ranks: 0/],
    [{ ranks: 4, kind: 'moebius' }, /unknown topology: moebius; known: nvlink-domain/],
    [{ ranks: 4, overrides: [{ rank: 9, nic: 0 }] }, /overrides\.rank: no such rank: 9; ranks are 0 to 3/],
    [{ ranks: 4, overrides: [{ rank: 1, nic: -1 }] }, /overrides\.nic: out of range: -1 for rank 1/],
    [{ ranks: 4, scaleOut: null, overrides: [{ rank: 1, scaleUp: 0 }] }, /unreachable rank: 1/],
    [{ ranks: 4, overrides: [{ rank: 1, scaleUp: 0, nic: 0 }] }, /unreachable rank: 1/],
    [
      { ranks: 4, domainRanks: 2, overrides: [0, 1].map((rank) => ({ rank, nic: 0 })) },
      /unreachable rank: 0, no network interface/,
    ],
    [{ ranks: 8, domainRanks: 4, options: { nicsPerDomain: 3 } }, /nicsPerDomain: uneven interfaces: 3/],
    [{ ranks: 8, options: { degraded: { 'leaf9.up': 0.5 } } }, /degraded: unknown link: leaf9.up/],
    [{ ranks: 8, options: { degraded: { 'rank3.scale-up.in': 0 } } }, /link rank3.scale-up.in is down/],
    [{ ranks: 8, options: { nonsense: 1 } }, /cluster\.topology/],
    [{ ranks: 8, kind: 'torus-2d', options: { dims: [3, 2] } }, /dims: unfilled domain: 3 x 2 = 6/],
    [{ ranks: 8, kind: 'torus-2d' }, /topology\.dims/],
  ])('%j', (sketch, message) => {
    expect(() => buildTopology(cluster(sketch))).toThrow(RangeError);
    expect(() => buildTopology(cluster(sketch))).toThrow(message);
  });

  test('an uneven last domain is taken when it is said', () => {
    const spec = cluster({ ranks: 12, domainRanks: 8, options: { unevenLastDomain: true } });
    const topology = buildTopology(spec);
    expect([0, 7, 8, 11].map((rank) => topology.domainOf(rank))).toEqual([0, 0, 1, 1]);
  });

  test('a domain larger than the ranks in use needs no second network', () => {
    expect(buildTopology(cluster({ ranks: 64, domainRanks: 72, scaleOut: null })).links).toHaveLength(128);
  });

  test('a rank whose scale-up port is down goes over its interface', () => {
    const topology = buildTopology(cluster({ ranks: 4, overrides: [{ rank: 1, scaleUp: 0 }] }));
    expect(topology.tierOf(0, 1)).toBe('scale-out');
    expect(topology.tierOf(0, 2)).toBe('scale-up');
  });
});
