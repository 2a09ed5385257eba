/**
 * Networks of switch trees: leaf-spine with one level of trunks, fat-tree with two, racks with one per domain.
 */
import { z } from 'zod';
import { domainOptions, joinDomains, readOptions } from '../domains.js';
import type { TopologyKind } from '../topology.js';
import { switchedDomain } from './switched.js';
import { hopLatency, treeFabric } from './tree-fabric.js';

const ratio = (words: string) => z.number().min(1).default(1).describe(words);
const belowLeaf = ratio('rate of the interfaces below a leaf over the rate of its trunk to the spines');
const domainsPerLeaf = z.int().positive().default(1).describe('scale-up domains below a leaf switch');

const leafSpineOptions = z.strictObject({
  ...domainOptions,
  domainsPerLeaf,
  oversubscription: belowLeaf,
  hopLatencyNs: hopLatency,
});

export const leafSpine: TopologyKind = {
  summary: 'domains below leaf switches, leaves joined by spines through trunks that may be oversubscribed',
  options: leafSpineOptions,
  build(cluster) {
    const read = readOptions(leafSpineOptions, cluster);
    const leaf = { name: 'leaf', domains: read.domainsPerLeaf, oversubscription: read.oversubscription };
    return joinDomains(cluster, read, switchedDomain, treeFabric([leaf], read.hopLatencyNs));
  },
};

const fatTreeOptions = z.strictObject({
  ...domainOptions,
  domainsPerLeaf,
  leavesPerPod: z.int().positive().default(4).describe('leaf switches of a pod'),
  leafOversubscription: ratio('rate of the interfaces below a leaf over the rate of its trunk to the pod'),
  podOversubscription: ratio('rate of the interfaces below a pod over the rate of its trunk to the core'),
  hopLatencyNs: hopLatency,
});

export const fatTree: TopologyKind = {
  summary: 'three levels: leaves in pods, pods joined by a core; each level may be oversubscribed',
  options: fatTreeOptions,
  build(cluster) {
    const read = readOptions(fatTreeOptions, cluster);
    const { domainsPerLeaf, leavesPerPod, leafOversubscription, podOversubscription } = read;
    const levels = [
      { name: 'leaf', domains: domainsPerLeaf, oversubscription: leafOversubscription },
      { name: 'pod', domains: domainsPerLeaf * leavesPerPod, oversubscription: podOversubscription },
    ];
    return joinDomains(cluster, read, switchedDomain, treeFabric(levels, read.hopLatencyNs));
  },
};

const racksOptions = z.strictObject({
  ...domainOptions,
  oversubscription: ratio('rate of the interfaces of a rack over the rate of its uplink'),
  hopLatencyNs: hopLatency,
});

export const racks: TopologyKind = {
  summary: 'each domain is a rack; racks are joined by one uplink each, which may be oversubscribed',
  options: racksOptions,
  build(cluster) {
    const read = readOptions(racksOptions, cluster);
    const rack = { name: 'rack', domains: 1, oversubscription: read.oversubscription };
    return joinDomains(cluster, read, switchedDomain, treeFabric([rack], read.hopLatencyNs));
  },
};
