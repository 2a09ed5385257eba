/**
 * The search: every candidate by its lower bound, then the best of them by the finer model until none that is left
 * could still be better.
 * One idea: the finer model is never faster than the bound, so a layout whose bound is worse than a refined
 * result needs no refining. Knows nothing of where candidates come from or how they are shown.
 */
import { overlaps } from '@epsim/engine';
import { askedRate, type Economics, economicsOf } from './economics.js';
import { createFeeds, type Feed, type FindFeed, firstTokenNs } from './feeds.js';
import type { OverlapName } from './layer-schedule.js';
import { type Layout, layoutRanks } from './layout.js';
import type { RankMemory } from './memory.js';
import { longestTpotNs, type Miss, missesOf } from './objectives.js';
import {
  BATCHES,
  type DecodePool,
  type Fidelity,
  largestBatch,
  type MixedPool,
  type Pools,
  type PrefillPool,
} from './pools.js';
import type { UnderLoad } from './serving/under-load.js';
import type { StepModel } from './step-time.js';

export type Serving = 'split' | 'together';

export interface Evaluated {
  readonly layout: Layout;
  readonly serving: Serving;
  readonly fidelity: Fidelity;
  readonly decode: DecodePool | MixedPool;
  /** The pool that feeds it; null where one pool does both. */
  readonly prefill: PrefillPool | null;
  readonly memory: RankMemory & { readonly stage: number };
  /** The asked quantile under load where a queue was simulated; else that of a prompt alone, which none undercuts. */
  readonly ttftNs: number;
  readonly economics: Economics;
  readonly misses: readonly Miss[];
  /** Where a queue of requests was simulated. */
  readonly load?: UnderLoad;
}

/** A layout that no batch of one sequence fits on, or that something refuses. */
export interface Fallen {
  readonly layout: Layout;
  readonly serving: Serving;
  readonly memoryBytes: number | null;
  readonly misses: readonly Miss[];
  readonly why: string | null;
}

export interface SearchResult {
  readonly evaluated: readonly Evaluated[];
  readonly fallen: readonly Fallen[];
  /** Points of speed against throughput at other batches of feasible layouts, by the bound. */
  readonly points: readonly Evaluated[];
  /** Steps that were timed by the bound, and layouts that were refined. */
  readonly timed: number;
  readonly refined: number;
  /** What feeds split fleets; null where none is asked for. */
  readonly feeds: FindFeed | null;
}

/** Most layouts that are refined when bounds lie close together. */
const MOST_REFINED = 24;
const LEAST_REFINED = 6;
/** Layouts, best first, whose smaller batches are put on the frontier. */
const MOST_ON_FRONTIER = 120;

/** The worst ratio by which an objective is missed; 1 where none is. */
export function worstMiss(misses: readonly Miss[]): number {
  return misses.reduce((worst, { ratio }) => Math.max(worst, ratio), 1);
}

/** Best first: what misses least, then fewest ranks for the rate that is asked, then throughput of a rank, then speed. */
export function better(a: Evaluated, b: Evaluated): number {
  const miss = worstMiss(a.misses) - worstMiss(b.misses);
  if (miss !== 0) return miss;
  const ranks = (a.economics.fleet?.ranks ?? 0) - (b.economics.fleet?.ranks ?? 0);
  if (ranks !== 0) return ranks;
  return (
    b.economics.tokensPerSecPerRank - a.economics.tokensPerSecPerRank || a.decode.tpotNs - b.decode.tpotNs
  );
}

export interface Search {
  readonly step: StepModel;
  readonly pools: Pools;
  readonly overlaps: readonly OverlapName[];
  readonly servings: readonly Serving[];
  /** How many steps were timed by the bound so far. */
  readonly counter: { timed: number };
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

export function search(layouts: readonly Layout[], on: Search): SearchResult {
  const { pools, servings } = on;
  const total = layouts.length * (servings.length + (servings.includes('split') ? 1 : 0));
  let done = 0;
  const next = () => on.onProgress?.(++done, total);
  const feeds = servings.includes('split') ? createFeeds(layouts, on, next) : null;
  const feed = feeds?.(pools.plan.requests.ratePerSec) ?? null;
  const evaluated: Evaluated[] = [];
  const fallen: Fallen[] = [];
  for (const serving of servings) {
    for (const layout of layouts) {
      next();
      if (serving === 'split' && feed === null) {
        fallen.push(withoutPrefill(layout, pools));
        continue;
      }
      const found = evaluateLayout(layout, serving, feed, on);
      if ('why' in found) fallen.push(found);
      else evaluated.push(found);
    }
  }
  const points = morePoints(evaluated, feed, on);
  const refined = refineBest(evaluated, feed, on);
  const { timed } = on.counter;
  return { evaluated: refined.evaluated, fallen, points, timed, refined: refined.count, feeds };
}

/** Memory that is used over memory that may be. */
function memoryMiss(bytes: number, pools: Pools): Miss {
  return { objective: 'memory', value: bytes, limit: pools.usableBytes, ratio: bytes / pools.usableBytes };
}

/** A layout that nothing could feed: because it is too small itself, or because every layout is for a prompt. */
function withoutPrefill(layout: Layout, pools: Pools): Fallen {
  const bytes = pools.memory.fullestBytes(layout, pools.use('decode', layout, 1));
  const misses = bytes > pools.usableBytes ? [memoryMiss(bytes, pools)] : [];
  const why = misses.length > 0 ? null : 'no layout can hold a prompt';
  return { layout, serving: 'split', memoryBytes: bytes, misses, why };
}

function evaluateLayout(layout: Layout, serving: Serving, feed: Feed | null, on: Search): Evaluated | Fallen {
  const { pools } = on;
  const bytesAt = (n: number) => pools.memory.fullestBytes(layout, pools.use(poolKind(serving), layout, n));
  const most = largestBatch((n) => bytesAt(n) <= pools.usableBytes);
  if (most === 0) {
    const bytes = bytesAt(1);
    return { layout, serving, memoryBytes: bytes, misses: [memoryMiss(bytes, pools)], why: null };
  }
  try {
    const choices = on.overlaps.flatMap((overlap) => {
      const found = withinTpot(layout, serving, overlap, most, on, 'bound');
      return found === null ? [] : [outcomeOf(found, serving, feed, on, 'bound')];
    });
    choices.sort(better);
    if (choices.length > 0) return choices[0];
    const why = `fits ${most} sequences on a group, ${layout.pipeline} stages need as many`;
    return { layout, serving, memoryBytes: bytesAt(most), misses: [], why };
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    return { layout, serving, memoryBytes: null, misses: [], why: thrown.message };
  }
}

function poolKind(serving: Serving): 'decode' | 'mixed' {
  return serving === 'split' ? 'decode' : 'mixed';
}

/** Smallest batch that an overlap and a pipeline can be filled with. */
function leastBatch(layout: Layout, overlap: OverlapName): number {
  const least = layout.pipeline * overlaps[overlap].microBatches;
  return BATCHES.find((n) => n >= least) ?? least;
}

/** The pool with the largest batch of at most `most` within the time between tokens; the smallest batch if none is. */
function withinTpot(
  layout: Layout,
  serving: Serving,
  overlap: OverlapName,
  most: number,
  { pools, counter }: Search,
  fidelity: Fidelity,
): DecodePool | MixedPool | null {
  const limit = longestTpotNs(pools.plan);
  const least = leastBatch(layout, overlap);
  if (most < least) return null;
  const at = (n: number) => {
    if (fidelity === 'bound') counter.timed++;
    return serving === 'split'
      ? pools.decode(layout, n, overlap, fidelity)
      : pools.mixed(layout, n, overlap, fidelity);
  };
  const whole = at(most);
  if (whole.tpotNs <= limit) return whole;
  const sequences = largestBatch((n) => n < least || (n < most && at(n).tpotNs <= limit));
  return at(Math.max(sequences, least));
}

/** What a pool comes to with what feeds it. */
export function outcomeOf(
  decode: DecodePool | MixedPool,
  serving: Serving,
  fed: Feed | null,
  on: Search,
  fidelity: Fidelity,
): Evaluated {
  const { pools, step } = on;
  const feed = serving === 'split' ? fed : null;
  const ttftNs = 'ttftNs' in decode ? decode.ttftNs : firstTokenNs(on, feed!.pool);
  const size = (pool: DecodePool | PrefillPool) => ({
    ranks: layoutRanks(pool.layout),
    requestsPerSec: pool.requestsPerSec,
  });
  const rate = askedRate(pools.plan, ttftNs, decode.tpotNs);
  const feedSize = feed && { ...size(feed.pool), instances: feed.instances };
  const economics = economicsOf(step.scenario, pools.plan, size(decode), feedSize, rate);
  const { costPerMillionTokens, watts, fleet } = economics;
  const misses = missesOf(pools.plan, {
    ...{ ttftNs, tpotNs: decode.tpotNs, costPerMillionTokens },
    watts: fleet === null ? null : watts,
    fleetRanks: fleet?.ranks ?? layoutRanks(decode.layout) + (feedSize?.ranks ?? 0),
  });
  const { layout } = decode;
  const memory = pools.memory.fullest(layout, pools.use(poolKind(serving), layout, decode.sequences));
  const prefill = feed?.pool ?? null;
  return { layout, serving, fidelity, decode, prefill, memory, ttftNs, economics, misses };
}

/** Feasible layouts at smaller batches: what speed costs in throughput. */
function morePoints(evaluated: readonly Evaluated[], feed: Feed | null, on: Search): readonly Evaluated[] {
  const { pools, counter } = on;
  const points: Evaluated[] = [];
  const feasible = evaluated.filter(({ misses }) => misses.length === 0);
  const fast = [...feasible].sort((a, b) => a.decode.tpotNs - b.decode.tpotNs);
  const kept = new Set([...feasible].sort(better).slice(0, MOST_ON_FRONTIER));
  for (const one of fast.slice(0, MOST_ON_FRONTIER)) kept.add(one);
  for (const { layout, serving, decode } of kept) {
    for (const n of BATCHES) {
      if (n < leastBatch(layout, decode.overlap) || n >= decode.sequences || !Number.isInteger(Math.log2(n)))
        continue;
      counter.timed++;
      const pool =
        serving === 'split'
          ? pools.decode(layout, n, decode.overlap, 'bound')
          : pools.mixed(layout, n, decode.overlap, 'bound');
      const point = outcomeOf(pool, serving, feed, on, 'bound');
      if (point.misses.length === 0) points.push(point);
    }
  }
  return points;
}

/** Refines a result: the same layout with the largest batch that the finer model allows. */
export function refine(coarse: Evaluated, feed: Feed | null, on: Search): Evaluated {
  const { layout, serving, decode } = coarse;
  const { sequences, overlap } = decode;
  const fine = withinTpot(layout, serving, overlap, sequences, on, 'refined') ?? decode;
  return outcomeOf(fine, serving, feed, on, 'refined');
}

/** Best first by the bound; refining stops when a refined result is better than every bound that is left. */
function refineBest(
  evaluated: readonly Evaluated[],
  feed: Feed | null,
  on: Search,
): { readonly evaluated: readonly Evaluated[]; readonly count: number } {
  const queue = [...evaluated].sort(better);
  const fine: Evaluated[] = [];
  let best: Evaluated | undefined;
  while (fine.length < Math.min(queue.length, MOST_REFINED)) {
    const coarse = queue[fine.length];
    if (best !== undefined && fine.length >= LEAST_REFINED && better(best, coarse) <= 0) break;
    const refined = refine(coarse, feed, on);
    fine.push(refined);
    if (best === undefined || better(refined, best) < 0) best = refined;
  }
  fine.sort(better);
  return { evaluated: [...fine, ...queue.slice(fine.length)], count: fine.length };
}
