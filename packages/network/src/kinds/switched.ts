/**
 * The inside of an NVLink domain: every rank has one port out and one port in at a switch that is never full.
 * Only ports can be busy, which is what a non-blocking NVSwitch fabric promises.
 */
import type { BuildInner } from '../domains.js';

export const switchedDomain: BuildInner = ({ cluster, table, rankCount, scaleUpFactor }) => {
  const { scaleUp } = cluster.topology;
  const portOut = new Int32Array(rankCount);
  const portIn = new Int32Array(rankCount);
  for (let rank = 0; rank < rankCount; rank++) {
    portOut[rank] = table.add(`rank${rank}.scale-up.out`, 'scale-up', scaleUp, scaleUpFactor[rank]);
    portIn[rank] = table.add(`rank${rank}.scale-up.in`, 'scale-up', scaleUp, scaleUpFactor[rank], 0);
  }
  return {
    maxHops: 2,
    route(from, to, out, at) {
      out[at] = portOut[from];
      out[at + 1] = portIn[to];
      return at + 2;
    },
  };
};
