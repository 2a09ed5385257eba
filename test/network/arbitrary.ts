/** Random clusters of every registered kind, and random byte matrices for them. */
import type { ClusterSpec } from '@epsim/spec';
import fc from 'fast-check';
import { type ClusterSketch, cluster, linkSpec } from './clusters.js';

/** Sketches of each kind that are legal whatever the sizes; a kind without one fails the conformance suite. */
const OPTIONS: Record<string, (domainRanks: number, ratio: number) => Record<string, unknown>> = {
  'nvlink-domain': () => ({}),
  'rail-optimized': (_, ratio) => ({ crossRail: ratio > 2 ? 'spine' : 'scale-up', oversubscription: ratio }),
  'leaf-spine': (_, ratio) => ({ domainsPerLeaf: 1, oversubscription: ratio }),
  'fat-tree': (_, ratio) => ({ leavesPerPod: 2, leafOversubscription: ratio, podOversubscription: 2 }),
  dragonfly: (_, ratio) => ({ domainsPerGroup: 1, taper: ratio }),
  'torus-2d': (domainRanks) => ({ dims: [2, domainRanks / 2] }),
  'torus-3d': (domainRanks) => ({ dims: [2, domainRanks / 2, 1] }),
  'full-mesh': () => ({}),
  racks: (_, ratio) => ({ oversubscription: ratio }),
};

export function optionsOf(kind: string, domainRanks: number, ratio: number): Record<string, unknown> {
  const make = OPTIONS[kind];
  if (make === undefined) throw new Error(`no sketch for topology ${kind}: add one to arbitrary.ts`);
  return make(domainRanks, ratio);
}

export function anyClusterOf(kind: string, maxDomains = 3): fc.Arbitrary<ClusterSpec> {
  return fc
    .record({
      domains: fc.integer({ min: 1, max: maxDomains }),
      domainRanks: fc.constantFrom(2, 4, 6),
      ratio: fc.double({ min: 1, max: 4, noNaN: true }),
      shared: fc.boolean(),
      latencyNs: fc.integer({ min: 0, max: 5000 }),
      slow: fc.double({ min: 0.2, max: 1, noNaN: true }),
    })
    .map(({ domains, domainRanks, ratio, shared, latencyNs, slow }) => {
      const sketch: ClusterSketch = {
        kind,
        ranks: domains * domainRanks,
        domainRanks,
        scaleUp: linkSpec(100e9, 700),
        scaleOut: linkSpec(10e9, latencyNs, 0.9),
        options: {
          ...optionsOf(kind, domainRanks, ratio),
          ...(shared ? { nicsPerDomain: domainRanks / 2 } : {}),
        },
        overrides: [
          { rank: 0, nic: slow },
          { rank: 1, scaleUp: slow },
        ],
      };
      return cluster(sketch);
    });
}

/** Byte matrices with zeros, equal entries and very uneven ones. */
export function anyBytes(ranks: number): fc.Arbitrary<Float64Array> {
  const entry = fc.oneof(
    fc.constant(0),
    fc.constant(1e6),
    fc.integer({ min: 1, max: 5 }).map((rows) => rows * 7168),
    fc.double({ min: 1, max: 1e8, noNaN: true }),
  );
  return fc
    .array(entry, { minLength: ranks * ranks, maxLength: ranks * ranks })
    .map((entries) => Float64Array.from(entries));
}
