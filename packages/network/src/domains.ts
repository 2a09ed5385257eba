/**
 * Ranks in scale-up domains, domains joined by network interfaces: the frame that all kinds share.
 * One idea: a kind is a pair of fabrics, one inside a domain and one between the interfaces of domains;
 * this file adds domains, interfaces, what is down and the detours around it.
 * Does not know what either fabric looks like.
 */
import type { ClusterSpec } from '@epsim/spec';
import { z } from 'zod';
import { checkLinkSpec, type LinkTable, linkTable } from './links.js';
import type { Topology } from './topology.js';

/** Options that every kind with domains takes. */
export const domainOptions = {
  nicsPerDomain: z
    .int()
    .positive()
    .optional()
    .describe(
      'network interfaces of a domain, one for each rank unless said; fewer are shared, more are bonded',
    ),
  unevenLastDomain: z
    .boolean()
    .default(false)
    .describe('whether the last domain may have fewer ranks than the others'),
  degraded: z
    .record(z.string(), z.number().min(0).max(1))
    .default({})
    .describe('share of its rate that is left of a link, by the name of the link: 0.5 is half'),
};

export interface DomainOptions {
  readonly nicsPerDomain?: number | undefined;
  readonly unevenLastDomain: boolean;
  readonly degraded: Readonly<Record<string, number>>;
}

/** Appends the links from -> to at out[at...] and returns the index after the last. */
export type Router = (from: number, to: number, out: Int32Array, at: number) => number;

export interface Frame {
  readonly cluster: ClusterSpec;
  readonly table: LinkTable;
  readonly rankCount: number;
  /** Ranks of a full domain, at most rankCount. */
  readonly domainRanks: number;
  readonly domainCount: number;
  /** Scale-up rate of a rank relative to nominal, [rankCount]. */
  readonly scaleUpFactor: Float64Array;
  /** Interfaces of one domain that are links of their own, and their rate in nominal interfaces. */
  readonly nicsPerDomain: number;
  readonly nicRate: number;
}

/** A fabric inside domains: routes between ranks of one domain whose ports are up. */
export interface InnerFabric {
  readonly maxHops: number;
  readonly route: Router;
}

/** The interfaces: their links by rank, [rankCount]. */
export interface Nics {
  readonly out: Int32Array;
  readonly in: Int32Array;
}

/** A fabric between domains: routes between two ranks whose interfaces are up, interfaces included. */
export interface OuterFabric {
  readonly maxHops: number;
  readonly route: Router;
}

export type BuildInner = (frame: Frame) => InnerFabric;
export type BuildOuter = (frame: Frame, nics: Nics, inner: InnerFabric) => OuterFabric;

/** Reads the options of a kind; throws RangeError with the path of the first mistake. */
export function readOptions<T>(schema: z.ZodType<T>, cluster: ClusterSpec): T {
  const read = schema.safeParse(cluster.topology.options);
  if (read.success) return read.data;
  const issue = read.error.issues[0];
  const path = ['cluster.topology', ...(issue?.path ?? [])].join('.');
  throw new RangeError(`${path}: ${issue?.message ?? 'not understood'}`);
}

/** The non-blocking network: nothing between interfaces can be full. */
export const flatFabric: BuildOuter = (_frame, nics) => ({
  maxHops: 2,
  route(from, to, out, at) {
    out[at] = nics.out[from];
    out[at + 1] = nics.in[to];
    return at + 2;
  },
});

/** Builds domains of `inner` joined by `outer`. Throws RangeError for ranks that nothing reaches. */
export function joinDomains(
  cluster: ClusterSpec,
  options: DomainOptions,
  buildInner: BuildInner,
  buildOuter: BuildOuter,
): Topology {
  const frame = frameOf(cluster, options);
  const { rankCount, domainRanks, scaleUpFactor } = frame;
  const nicFactor = nicFactors(frame);
  const inner = buildInner(frame);
  const needsNics = frame.domainCount > 1 || scaleUpFactor.includes(0);
  const nics = needsNics ? addNics(frame, nicFactor) : null;
  const outer = nics === null ? null : buildOuter(frame, nics, inner);
  frame.table.finish();
  const gateway = gateways(frame, nicFactor, outer !== null);
  const domainOf = (rank: number): number => Math.floor(rank / domainRanks);
  const inside = (from: number, to: number): boolean =>
    domainOf(from) === domainOf(to) && scaleUpFactor[from] > 0 && scaleUpFactor[to] > 0;
  const between: Router = (from, to, out, at) => {
    const exit = gateway[from];
    const entry = gateway[to];
    let end = exit === from ? at : inner.route(from, exit, out, at);
    if (outer !== null) end = outer.route(exit, entry, out, end);
    return entry === to ? end : inner.route(entry, to, out, end);
  };
  const topology: Topology = {
    rankCount,
    links: frame.table.links,
    maxHops: 2 * inner.maxHops + (outer?.maxHops ?? 0),
    tierOf: (from, to) => (from === to ? 'local' : inside(from, to) ? 'scale-up' : 'scale-out'),
    path: (from, to, out) => {
      if (from === to) return 0;
      return inside(from, to) ? inner.route(from, to, out, 0) : between(from, to, out, 0);
    },
    domainOf,
  };
  refuseDeadPaths(topology);
  return topology;
}

function frameOf(cluster: ClusterSpec, options: DomainOptions): Frame {
  const { rankCount, topology } = cluster;
  if (!(Number.isInteger(rankCount) && rankCount > 0)) {
    throw new RangeError(
      `cluster.ranks: not a number of ranks: ${rankCount}; give a whole number of 1 or more`,
    );
  }
  if (!(Number.isInteger(topology.domainRanks) && topology.domainRanks > 0)) {
    throw new RangeError(
      `cluster.domainRanks: not a number of ranks: ${topology.domainRanks}; give a whole number of 1 or more`,
    );
  }
  checkLinkSpec('cluster.scaleUp', topology.scaleUp);
  if (topology.scaleOut !== null) checkLinkSpec('cluster.scaleOut', topology.scaleOut);
  const domainRanks = Math.min(topology.domainRanks, rankCount);
  if (rankCount % domainRanks !== 0 && !options.unevenLastDomain) {
    const fit = Math.ceil(rankCount / domainRanks) * domainRanks;
    throw new RangeError(
      `cluster.domainRanks: uneven domains: ${rankCount} ranks in domains of ${domainRanks}; use ${fit - domainRanks} or ${fit} ranks, or say unevenLastDomain: true`,
    );
  }
  const domainCount = Math.ceil(rankCount / domainRanks);
  if (domainCount > 1 && topology.scaleOut === null) {
    throw new RangeError(
      `cluster.scaleOut: missing: ${domainCount} domains that nothing joins; describe the network between them, or use at most ${domainRanks} ranks`,
    );
  }
  const scaleUpFactor = new Float64Array(rankCount).fill(1);
  for (const { rank, scaleUp } of cluster.overrides) {
    checkOverride(rank, rankCount, 'scaleUp', scaleUp);
    if (scaleUp !== undefined) scaleUpFactor[rank] *= scaleUp;
  }
  // A domain that ranks fill only in part still has the interfaces of a whole one; its ranks use their own.
  const wanted = options.nicsPerDomain ?? topology.domainRanks;
  const [large, small] =
    wanted > topology.domainRanks ? [wanted, topology.domainRanks] : [topology.domainRanks, wanted];
  if (large % small !== 0) {
    throw new RangeError(
      `cluster.topology.nicsPerDomain: uneven interfaces: ${wanted} interfaces for ${topology.domainRanks} ranks; use a divisor or a multiple of ${topology.domainRanks}`,
    );
  }
  return {
    cluster,
    table: linkTable(options.degraded),
    rankCount,
    domainRanks,
    domainCount,
    scaleUpFactor,
    nicsPerDomain: Math.min(wanted, topology.domainRanks),
    nicRate: Math.max(1, wanted / topology.domainRanks),
  };
}

function checkOverride(rank: number, rankCount: number, field: string, factor: number | undefined): void {
  if (!(Number.isInteger(rank) && rank >= 0 && rank < rankCount)) {
    throw new RangeError(`cluster.overrides.rank: no such rank: ${rank}; ranks are 0 to ${rankCount - 1}`);
  }
  if (factor !== undefined && !(factor >= 0 && Number.isFinite(factor))) {
    throw new RangeError(
      `cluster.overrides.${field}: out of range: ${factor} for rank ${rank}; give the rate relative to nominal, 0 = down`,
    );
  }
}

/** Index of the interface of a rank, counted through all domains. */
function nicOf(frame: Frame, rank: number): number {
  const full = frame.cluster.topology.domainRanks;
  const domain = Math.floor(rank / frame.domainRanks);
  const local = rank % frame.domainRanks;
  return domain * frame.nicsPerDomain + Math.floor((local * frame.nicsPerDomain) / full);
}

/** Rate of each interface relative to nominal; a shared one is as bad as its worst override says. */
function nicFactors(frame: Frame): Float64Array {
  const factors = new Float64Array(frame.domainCount * frame.nicsPerDomain).fill(1);
  for (const { rank, nic } of frame.cluster.overrides) {
    checkOverride(rank, frame.rankCount, 'nic', nic);
    if (nic !== undefined) factors[nicOf(frame, rank)] = Math.min(factors[nicOf(frame, rank)], nic);
  }
  return factors;
}

function addNics(frame: Frame, factors: Float64Array): Nics | null {
  const spec = frame.cluster.topology.scaleOut;
  if (spec === null) return null;
  const nics = { out: new Int32Array(frame.rankCount), in: new Int32Array(frame.rankCount) };
  let last = -1;
  for (let rank = 0; rank < frame.rankCount; rank++) {
    const nic = nicOf(frame, rank);
    if (nic === last) {
      nics.out[rank] = nics.out[rank - 1];
      nics.in[rank] = nics.in[rank - 1];
      continue;
    }
    last = nic;
    const name = `domain${Math.floor(nic / frame.nicsPerDomain)}.nic${nic % frame.nicsPerDomain}`;
    const scale = frame.nicRate * factors[nic];
    nics.out[rank] = frame.table.add(`${name}.out`, 'scale-out', spec, scale);
    nics.in[rank] = frame.table.add(`${name}.in`, 'scale-out', spec, scale, 0);
  }
  return nics;
}

/**
 * The rank through whose interface each rank leaves its domain, [rankCount]: itself, or, when its interface
 * is down, the next rank of the domain whose interface is up.
 */
function gateways(frame: Frame, nicFactor: Float64Array, hasOuter: boolean): Int32Array {
  const { rankCount, domainRanks, scaleUpFactor } = frame;
  const gateway = Int32Array.from({ length: rankCount }, (_, rank) => rank);
  const down = scaleUpFactor.indexOf(0);
  if (down >= 0 && rankCount > 1 && !hasOuter) {
    throw unreachable(down, 'its scale-up port is down and there is no network between domains');
  }
  if (!hasOuter) return gateway;
  const serves = (rank: number): boolean => nicFactor[nicOf(frame, rank)] > 0;
  for (let rank = 0; rank < rankCount; rank++) {
    if (serves(rank)) continue;
    if (scaleUpFactor[rank] === 0)
      throw unreachable(rank, 'its scale-up port and its network interface are down');
    const first = rank - (rank % domainRanks);
    const size = Math.min(domainRanks, rankCount - first);
    for (let step = 1; step < size && gateway[rank] === rank; step++) {
      const other = first + ((rank - first + step) % size);
      if (serves(other) && scaleUpFactor[other] > 0) gateway[rank] = other;
    }
    if (gateway[rank] === rank) throw unreachable(rank, 'no network interface that it could use is up');
  }
  return gateway;
}

function unreachable(rank: number, why: string): RangeError {
  return new RangeError(`cluster.overrides: unreachable rank: ${rank}, ${why}; leave one of them above 0`);
}

/** Links that are down may exist, but no pair of ranks may need one. */
function refuseDeadPaths(topology: Topology): void {
  if (topology.links.every((link) => link.bytesPerSec > 0)) return;
  const path = new Int32Array(topology.maxHops);
  for (let from = 0; from < topology.rankCount; from++) {
    for (let to = 0; to < topology.rankCount; to++) {
      const hops = topology.path(from, to, path);
      for (let hop = 0; hop < hops; hop++) {
        const link = topology.links[path[hop]];
        if (link.bytesPerSec > 0) continue;
        throw new RangeError(
          `cluster.topology: unreachable ranks: ${from} and ${to}, link ${link.name} is down and there is no other way; leave it above 0`,
        );
      }
    }
  }
}
