/**
 * Rails: interfaces of the same place in every domain share a switch that is never full.
 * A flow between two places first goes over scale-up to the place of its receiver and leaves from there, or,
 * with `crossRail: spine`, crosses from rail to rail through trunks that may be oversubscribed.
 */
import { z } from 'zod';
import { type BuildOuter, domainOptions, joinDomains, readOptions } from '../domains.js';
import type { TopologyKind } from '../topology.js';
import { switchedDomain } from './switched.js';
import { addTrunk } from './tree-fabric.js';

const options = z.strictObject({
  ...domainOptions,
  crossRail: z
    .enum(['scale-up', 'spine'])
    .default('scale-up')
    .describe(
      'how rows reach another rail: over the scale-up network of their own domain first, or through a spine',
    ),
  oversubscription: z
    .number()
    .min(1)
    .default(1)
    .describe(
      'rate of the interfaces of a rail over the rate of its trunk to the spine, where rails meet in one',
    ),
});

function railFabric(crossRail: 'scale-up' | 'spine', oversubscription: number): BuildOuter {
  return (frame, nics, inner) => {
    const { domainRanks, nicsPerDomain, domainCount, scaleUpFactor, rankCount } = frame;
    const railOf = (rank: number): number =>
      Math.floor(((rank % domainRanks) * nicsPerDomain) / frame.cluster.topology.domainRanks);
    const rails = railOf(domainRanks - 1) + 1;
    const trunk = (end: string): Int32Array => {
      const rate = (domainCount * frame.nicRate) / oversubscription;
      return Int32Array.from({ length: rails }, (_, rail) =>
        addTrunk(frame.table, `rail${rail}.${end}`, frame, rate, 0),
      );
    };
    const up = crossRail === 'spine' ? trunk('up') : null;
    const down = crossRail === 'spine' ? trunk('down') : null;
    return {
      maxHops: 4 + 2 * inner.maxHops,
      route(from, to, out, at) {
        const sameRail = railOf(from) === railOf(to);
        const base = from - (from % domainRanks);
        const relay = base + (to % domainRanks);
        let exit = from;
        let end = at;
        if (
          !sameRail &&
          up === null &&
          relay < rankCount &&
          scaleUpFactor[from] > 0 &&
          canRelay(frame.table.links[nics.out[relay]].bytesPerSec, scaleUpFactor[relay])
        ) {
          end = inner.route(from, relay, out, end);
          exit = relay;
        }
        out[end++] = nics.out[exit];
        if (!sameRail && up !== null && down !== null) {
          out[end++] = up[railOf(from)];
          out[end++] = down[railOf(to)];
        }
        out[end++] = nics.in[to];
        return end;
      },
    };
  };
}

const canRelay = (nicBytesPerSec: number, scaleUpFactor: number): boolean =>
  nicBytesPerSec > 0 && scaleUpFactor > 0;

export const railOptimized: TopologyKind = {
  summary: 'interfaces of one place share a rail switch; other places are reached over scale-up or the spine',
  options,
  build(cluster) {
    const read = readOptions(options, cluster);
    return joinDomains(cluster, read, switchedDomain, railFabric(read.crossRail, read.oversubscription));
  },
};
