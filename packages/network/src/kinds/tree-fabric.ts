/**
 * Switch trees between domains. A trunk of one level carries everything that leaves the switches below it,
 * as if equal-cost routing spread flows evenly over its cables; oversubscription makes it thinner than what
 * its interfaces could send.
 */

import { z } from 'zod';
import type { BuildOuter, Frame, Nics, OuterFabric } from '../domains.js';
import type { LinkTable } from '../links.js';

/** An option of every network with trunks; the latency of the scale-out link is that of a path without any. */
export const hopLatency = z
  .number()
  .min(0)
  .default(0)
  .describe('nanoseconds that each trunk on the way adds to the latency of the scale-out link');

export interface TreeLevel {
  /** Name of the switches, such as leaf. */
  readonly name: string;
  /** Domains below one switch. */
  readonly domains: number;
  /** Rate of the interfaces below a switch over the rate of its trunk upwards: 1 = never full. */
  readonly oversubscription: number;
}

interface Trunks {
  readonly domains: number;
  readonly up: Int32Array;
  readonly down: Int32Array;
}

/** A tree of `levels` from the interfaces upwards; above the last level nothing can be full. */
export function treeFabric(levels: readonly TreeLevel[], hopLatencyNs: number): BuildOuter {
  return (frame, nics): OuterFabric => {
    const trunks = levels.map((level) => addTrunks(frame, nics, level, hopLatencyNs));
    return {
      maxHops: 2 + 2 * levels.length,
      route(from, to, out, at) {
        const source = Math.floor(from / frame.domainRanks);
        const target = Math.floor(to / frame.domainRanks);
        let height = 0;
        while (
          height < trunks.length &&
          switchOf(trunks[height], source) !== switchOf(trunks[height], target)
        )
          height++;
        let end = at;
        out[end++] = nics.out[from];
        for (let level = 0; level < height; level++)
          out[end++] = trunks[level].up[switchOf(trunks[level], source)];
        for (let level = height - 1; level >= 0; level--) {
          out[end++] = trunks[level].down[switchOf(trunks[level], target)];
        }
        out[end++] = nics.in[to];
        return end;
      },
    };
  };
}

const switchOf = (trunks: Trunks, domain: number): number => Math.floor(domain / trunks.domains);

function addTrunks(frame: Frame, nics: Nics, level: TreeLevel, hopLatencyNs: number): Trunks {
  const { table, domainCount, domainRanks, rankCount } = frame;
  const count = Math.ceil(domainCount / level.domains);
  const up = new Int32Array(count);
  const down = new Int32Array(count);
  for (let at = 0; at < count; at++) {
    const first = at * level.domains * domainRanks;
    const last = Math.min(first + level.domains * domainRanks, rankCount);
    const rate = trunkRate(frame, nics, first, last) / level.oversubscription;
    up[at] = addTrunk(table, `${level.name}${at}.up`, frame, rate, hopLatencyNs);
    down[at] = addTrunk(table, `${level.name}${at}.down`, frame, rate, hopLatencyNs);
  }
  return { domains: level.domains, up, down };
}

/** Interfaces of ranks first .. last - 1 in nominal interfaces: a trunk is built for what is plugged in, up or down. */
export function trunkRate(frame: Frame, nics: Nics, first: number, last: number): number {
  return new Set(nics.out.subarray(first, last)).size * frame.nicRate;
}

export function addTrunk(
  table: LinkTable,
  name: string,
  frame: Frame,
  rate: number,
  latencyNs: number,
): number {
  const { scaleOut } = frame.cluster.topology;
  if (scaleOut === null) throw new Error(`invariant: trunk ${name} without a network between domains`);
  return table.add(name, 'scale-out', scaleOut, rate, latencyNs);
}
