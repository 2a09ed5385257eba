/**
 * The pool that computes prompts for a split fleet: which layout, and how many instances of it.
 * One idea: how long a first token takes depends on prompts alone, so this half of a fleet is chosen before the
 * other: the fewest ranks whose queue of prompts holds the objective at the asked rate.
 * Knows nothing of decoding.
 */
import { instancesFor } from './economics.js';
import { type Layout, layoutRanks } from './layout.js';
import { memo } from './memo.js';
import { heldUnderLoad, type PrefillPool } from './pools.js';
import type { Search } from './search.js';
import { quantileOf, simulatePrompts, WARM_UP } from './serving/queue.js';
import { requestStream, requestsFor } from './serving/requests.js';
import { serviceTimes } from './serving/service-times.js';

/** Pools, those that take fewest ranks first, that are refined and simulated. */
const MOST_POOLS = 12;
/** Prompts of a simulation, at least. */
const LEAST_PROMPTS = 12_000;
/** Most instances that are simulated: of larger fleets so many, at their share of the rate. */
const MOST_INSTANCES = 64;
/** Most instances over those that the mean rate needs, and by what share of these they are added. */
export const MOST_GROWTH = 2;
const GROWTH_STEP = 1 / 16;

/** The next number of instances to try. */
export function grown(instances: number, least: number): number {
  return instances + Math.max(1, Math.round(GROWTH_STEP * least));
}

export interface Feed {
  readonly pool: PrefillPool;
  /** Instances that hold the objective at a rate; undefined where no rate is known. */
  readonly instances?: number | undefined;
}

/** The best feed at a rate, or at none; null where no layout can hold a prompt. */
export type FindFeed = (ratePerSec: number | null) => Feed | null;

/** From an idle instance's prompt to its first token where it is decoded, ns: no queue gives less. */
export function firstTokenNs({ pools }: Search, pool: PrefillPool): number {
  return pool.latencyNs + pools.transferNs(pool.layout);
}

/** Finds feeds among `layouts`; `count` is told how many steps were timed, `next` of each layout. */
export function createFeeds(layouts: readonly Layout[], on: Search, next: () => void): FindFeed {
  const found = poolsOf(layouts, on, next);
  const refined = memo((pool: PrefillPool) =>
    on.pools.prefill(pool.layout, pool.chunkTokens, pool.overlap, 'refined'),
  );
  return memo((ratePerSec: number | null) => {
    const size = (pool: PrefillPool) => ranksFor(pool, ratePerSec);
    const pools = unbeaten(found, size, on).map(refined);
    pools.sort((a, b) => size(a) - size(b) || perRank(b) - perRank(a));
    if (pools.length === 0) return null;
    const limit = on.pools.plan.objectives.ttftNs ?? Number.POSITIVE_INFINITY;
    const within = pools.filter((pool) => firstTokenNs(on, pool) <= limit);
    const quickest = () =>
      pools.reduce((best, pool) => (firstTokenNs(on, pool) < firstTokenNs(on, best) ? pool : best));
    if (within.length === 0) return { pool: quickest() };
    if (ratePerSec === null || !heldUnderLoad(on.pools.plan)) return { pool: within[0] };
    return fewestRanks(within, ratePerSec, limit, on);
  });
}

const perRank = (pool: PrefillPool) => pool.requestsPerSec / layoutRanks(pool.layout);

/** Ranks for a rate in whole instances, or without one for a request a second. */
function ranksFor(pool: PrefillPool, ratePerSec: number | null): number {
  const each = layoutRanks(pool.layout);
  return ratePerSec === null ? each / pool.requestsPerSec : each * instancesFor(ratePerSec, pool);
}

/** Every layout that holds prompts, by the bound: with chunks of one prompt and of the engine's size. */
function poolsOf(layouts: readonly Layout[], on: Search, next: () => void): readonly PrefillPool[] {
  const { pools, counter } = on;
  const { engine } = pools.plan;
  const chunks = [...new Set([Math.min(pools.promptTokens, engine.chunkTokens), engine.chunkTokens])];
  const found: PrefillPool[] = [];
  for (const layout of layouts) {
    next();
    for (const chunkTokens of chunks) {
      if (pools.memory.fullestBytes(layout, pools.use('prefill', layout, chunkTokens)) > pools.usableBytes)
        continue;
      for (const overlap of on.overlaps) {
        counter.timed++;
        try {
          found.push(pools.prefill(layout, chunkTokens, overlap, 'bound'));
        } catch (thrown) {
          // Placement or topology refuse the layout.
          if (!(thrown instanceof RangeError)) throw thrown;
        }
      }
    }
  }
  return found;
}

/** Pools of which none with as few ranks and as much throughput is quicker, fewest ranks first. */
function unbeaten(
  found: readonly PrefillPool[],
  size: (pool: PrefillPool) => number,
  on: Search,
): PrefillPool[] {
  const ttft = memo((pool: PrefillPool) => firstTokenNs(on, pool));
  const sorted = [...found].sort((a, b) => size(a) - size(b) || perRank(b) - perRank(a) || ttft(a) - ttft(b));
  let least = Number.POSITIVE_INFINITY;
  const kept = sorted.filter((pool) => {
    if (ttft(pool) >= least) return false;
    least = ttft(pool);
    return true;
  });
  // The quickest stays, since an objective may leave room for nothing else.
  return kept.length <= MOST_POOLS ? kept : [...kept.slice(0, MOST_POOLS - 1), kept[kept.length - 1]];
}

/** The pool and number of instances with the fewest ranks whose simulated queue holds the limit; else the quickest queue. */
function fewestRanks(pools: readonly PrefillPool[], ratePerSec: number, limitNs: number, on: Search): Feed {
  let best: (Feed & { readonly ranks: number }) | undefined;
  let late: (Feed & { readonly ttftNs: number }) | undefined;
  for (const pool of pools) {
    const least = instancesFor(ratePerSec, pool);
    const each = layoutRanks(pool.layout);
    const ttftOf = simulation(pool, ratePerSec, on);
    for (let n = least; n <= MOST_GROWTH * least + 1; n = grown(n, least)) {
      if (best !== undefined && n * each >= best.ranks) break;
      const ttftNs = ttftOf(n);
      if (late === undefined || ttftNs < late.ttftNs) late = { pool, instances: n, ttftNs };
      if (ttftNs > limitNs) continue;
      best = { pool, instances: n, ranks: n * each };
      break;
    }
  }
  return (best ?? late) as Feed;
}

/** The asked quantile of the time to the first token against the number of instances. */
function simulation(pool: PrefillPool, ratePerSec: number, { pools, step }: Search) {
  const { requests, objectives } = pools.plan;
  const { layout, overlap, chunkTokens } = pool;
  const times = serviceTimes(pools, layout, overlap, 1, chunkTokens, 'refined');
  const transferNs = pools.transferNs(layout);
  const quantile = objectives.quantile ?? 0.5;
  const count = Math.max(LEAST_PROMPTS, requestsFor(quantile));
  return (instances: number): number => {
    const some = Math.min(instances, MOST_INSTANCES);
    const rate = (ratePerSec * some) / instances;
    const stream = requestStream({ ...requests, seed: step.scenario.seed, count, ratePerSec: rate });
    const ttftNs = simulatePrompts(stream, times, some, transferNs).subarray(Math.floor(WARM_UP * count));
    return quantileOf(ttftNs, quantile);
  };
}
