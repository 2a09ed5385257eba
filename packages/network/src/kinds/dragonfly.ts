/**
 * Dragonfly: domains in groups that are never full inside; every two groups are joined by one trunk each way.
 * Minimal routing: at most one trunk per flow. A group's trunks together carry what its interfaces send,
 * divided by the taper.
 */
import { z } from 'zod';
import { type BuildOuter, domainOptions, joinDomains, readOptions } from '../domains.js';
import type { TopologyKind } from '../topology.js';
import { switchedDomain } from './switched.js';
import { addTrunk, hopLatency, trunkRate } from './tree-fabric.js';

const options = z.strictObject({
  ...domainOptions,
  domainsPerGroup: z.int().positive().default(4).describe('scale-up domains of a group'),
  taper: z
    .number()
    .min(1)
    .default(1)
    .describe('rate of the interfaces of a group over the rate of all its trunks'),
  hopLatencyNs: hopLatency,
});

function groupFabric(domainsPerGroup: number, taper: number, hopLatencyNs: number): BuildOuter {
  return (frame, nics) => {
    const groupRanks = domainsPerGroup * frame.domainRanks;
    const groups = Math.ceil(frame.rankCount / groupRanks);
    const trunks = new Int32Array(groups * groups);
    for (let from = 0; from < groups; from++) {
      for (let to = 0; to < groups; to++) {
        if (from === to) continue;
        const smaller = Math.min(ratesOf(from), ratesOf(to)) / (groups - 1) / taper;
        trunks[from * groups + to] = addTrunk(
          frame.table,
          `group${from}-group${to}`,
          frame,
          smaller,
          hopLatencyNs,
        );
      }
    }
    function ratesOf(group: number): number {
      return trunkRate(frame, nics, group * groupRanks, Math.min((group + 1) * groupRanks, frame.rankCount));
    }
    return {
      maxHops: 3,
      route(from, to, out, at) {
        const source = Math.floor(from / groupRanks);
        const target = Math.floor(to / groupRanks);
        let end = at;
        out[end++] = nics.out[from];
        if (source !== target) out[end++] = trunks[source * groups + target];
        out[end++] = nics.in[to];
        return end;
      },
    };
  };
}

export const dragonfly: TopologyKind = {
  summary: 'domains in groups, every two groups joined by a trunk, minimal routing',
  options,
  build(cluster) {
    const read = readOptions(options, cluster);
    const fabric = groupFabric(read.domainsPerGroup, read.taper, read.hopLatencyNs);
    return joinDomains(cluster, read, switchedDomain, fabric);
  },
};
