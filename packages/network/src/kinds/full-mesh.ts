/**
 * A domain without a switch, such as xGMI: every pair of its ranks has a link of its own in each direction.
 * The scale-up rate of a rank is split evenly over its links, so a pair can use only one part of it.
 */
import { z } from 'zod';
import { type BuildInner, domainOptions, flatFabric, joinDomains, readOptions } from '../domains.js';
import type { TopologyKind } from '../topology.js';

const options = z.strictObject(domainOptions);

const meshedDomain: BuildInner = ({ cluster, table, rankCount, domainRanks, scaleUpFactor }) => {
  const peers = Math.max(1, cluster.topology.domainRanks - 1);
  const first = new Int32Array(rankCount * domainRanks);
  for (let from = 0; from < rankCount; from++) {
    const base = from - (from % domainRanks);
    for (let to = base; to < Math.min(base + domainRanks, rankCount); to++) {
      if (to === from) continue;
      const scale = Math.min(scaleUpFactor[from], scaleUpFactor[to]) / peers;
      const name = `rank${from}-rank${to}`;
      first[from * domainRanks + (to - base)] = table.add(name, 'scale-up', cluster.topology.scaleUp, scale);
    }
  }
  return {
    maxHops: 1,
    route(from, to, out, at) {
      out[at] = first[from * domainRanks + (to % domainRanks)];
      return at + 1;
    },
  };
};

export const fullMesh: TopologyKind = {
  summary: 'domains whose ranks are joined pair by pair (xGMI), the rate of a rank split over its peers',
  options,
  build: (cluster) => joinDomains(cluster, readOptions(options, cluster), meshedDomain, flatFabric),
};
