/**
 * Networks of switch trees: leaf-spine with one level of trunks, fat-tree with two, racks with one per domain.
 */
import { z } from 'zod';
import { domainOptions, joinDomains, readOptions } from '../domains.js';
import type { TopologyKind } from '../topology.js';
import { switchedDomain } from './switched.js';
import { treeFabric } from './tree-fabric.js';

const ratio = z.number().min(1).default(1);
/** Added latency of each trunk; the latency of the scale-out link is that of a path below one leaf. */
const hopLatencyNs = z.number().min(0).default(0);

const leafSpineOptions = z.strictObject({
  ...domainOptions,
  domainsPerLeaf: z.int().positive().default(1),
  oversubscription: ratio,
  hopLatencyNs,
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
  domainsPerLeaf: z.int().positive().default(1),
  leavesPerPod: z.int().positive().default(4),
  leafOversubscription: ratio,
  podOversubscription: ratio,
  hopLatencyNs,
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

const racksOptions = z.strictObject({ ...domainOptions, oversubscription: ratio, hopLatencyNs });

export const racks: TopologyKind = {
  summary: 'each domain is a rack; racks are joined by one uplink each, which may be oversubscribed',
  options: racksOptions,
  build(cluster) {
    const read = readOptions(racksOptions, cluster);
    const rack = { name: 'rack', domains: 1, oversubscription: read.oversubscription };
    return joinDomains(cluster, read, switchedDomain, treeFabric([rack], read.hopLatencyNs));
  },
};
