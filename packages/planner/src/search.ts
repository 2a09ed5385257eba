/**
 * The search: every candidate by its lower bound, then the best of them by the finer model until none that is left
 * could still be better.
 * One idea: the finer model is never faster than the bound, so a layout whose bound is worse than a refined
 * result needs no refining. Knows nothing of where candidates come from or how they are shown.
 */
import { overlaps } from '@epsim/engine';
import { askedRate, type Economics, economicsOf, instancesFor } from './economics.js';
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
  readonly ttftNs: number;
  readonly economics: Economics;
  readonly misses: readonly Miss[];
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
}

/** Most layouts that are refined when bounds lie close together. */
const MOST_REFINED = 24;
const LEAST_REFINED = 6;
const MOST_PREFILL_REFINED = 8;
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
  /** Share of the time to the first token that an idle prefill pool may take; the rest is for waiting. */
  readonly prefillShare: number;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

export function search(layouts: readonly Layout[], on: Search): SearchResult {
  const { pools, servings } = on;
  const counter = { timed: 0 };
  const total = layouts.length * (servings.length + (servings.includes('split') ? 1 : 0));
  let done = 0;
  const next = () => on.onProgress?.(++done, total);
  const prefill = servings.includes('split') ? bestPrefill(layouts, on, counter, next) : null;
  const evaluated: Evaluated[] = [];
  const fallen: Fallen[] = [];
  for (const serving of servings) {
    for (const layout of layouts) {
      next();
      if (serving === 'split' && prefill === null) {
        fallen.push(withoutPrefill(layout, pools));
        continue;
      }
      const found = evaluateLayout(layout, serving, prefill, on, counter);
      if ('why' in found) fallen.push(found);
      else evaluated.push(found);
    }
  }
  const points = morePoints(evaluated, prefill, on, counter);
  const refined = refineBest(evaluated, prefill, on);
  return { evaluated: refined.evaluated, fallen, points, timed: counter.timed, refined: refined.count };
}

type Counter = { timed: number };

/** Memory that is used over memory that may be. */
function memoryMiss(bytes: number, pools: Pools): Miss {
  return { objective: 'memory', value: bytes, limit: pools.usableBytes, ratio: bytes / pools.usableBytes };
}

/**
 * The prefill pool for the asked rate with the fewest ranks, or without one that with most requests per rank, within
 * the time to the first token.
 */
function bestPrefill(
  layouts: readonly Layout[],
  on: Search,
  counter: Counter,
  next: () => void,
): PrefillPool | null {
  const { pools } = on;
  const { requests, engine, objectives } = pools.plan;
  const prompt = Math.max(1, Math.round(requests.inputTokens * (1 - requests.cacheHitRate)));
  const chunks = [...new Set([Math.min(prompt, engine.chunkTokens), engine.chunkTokens])];
  const found: PrefillPool[] = [];
  for (const layout of layouts) {
    next();
    for (const chunkTokens of chunks) {
      const use = pools.use('prefill', layout, chunkTokens);
      if (pools.memory.fullestBytes(layout, use) > pools.usableBytes) continue;
      for (const overlap of on.overlaps) {
        const pool = attempt(() => pools.prefill(layout, chunkTokens, overlap, 'bound'));
        counter.timed++;
        if (pool !== null) found.push(pool);
      }
    }
  }
  const limit = on.prefillShare * (objectives.ttftNs ?? Number.POSITIVE_INFINITY);
  const ttft = (pool: PrefillPool) => pool.latencyNs + pools.transferNs(pool.layout);
  const perRank = (pool: PrefillPool) => pool.requestsPerSec / layoutRanks(pool.layout);
  const ranksFor = (pool: PrefillPool) =>
    layoutRanks(pool.layout) * instancesFor(requests.ratePerSec ?? 0, pool);
  const order = (a: PrefillPool, b: PrefillPool): number => {
    const within = Number(ttft(a) > limit) - Number(ttft(b) > limit);
    if (within !== 0) return within;
    return ttft(a) > limit ? ttft(a) - ttft(b) : ranksFor(a) - ranksFor(b) || perRank(b) - perRank(a);
  };
  found.sort(order);
  let best: PrefillPool | null = null;
  for (const pool of found.slice(0, MOST_PREFILL_REFINED)) {
    if (best !== null && order(best, pool) <= 0) break;
    const fine = pools.prefill(pool.layout, pool.chunkTokens, pool.overlap, 'refined');
    if (best === null || order(fine, best) < 0) best = fine;
  }
  return best;
}

/** Null where placement or topology refuse. */
function attempt<T>(find: () => T): T | null {
  try {
    return find();
  } catch (thrown) {
    if (thrown instanceof RangeError) return null;
    throw thrown;
  }
}

/** A layout that nothing could feed: because it is too small itself, or because every layout is for a prompt. */
function withoutPrefill(layout: Layout, pools: Pools): Fallen {
  const bytes = pools.memory.fullestBytes(layout, pools.use('decode', layout, 1));
  const misses = bytes > pools.usableBytes ? [memoryMiss(bytes, pools)] : [];
  const why = misses.length > 0 ? null : 'no layout can hold a prompt';
  return { layout, serving: 'split', memoryBytes: bytes, misses, why };
}

function evaluateLayout(
  layout: Layout,
  serving: Serving,
  prefill: PrefillPool | null,
  on: Search,
  counter: Counter,
): Evaluated | Fallen {
  const { pools } = on;
  const bytesAt = (n: number) => pools.memory.fullestBytes(layout, pools.use(poolKind(serving), layout, n));
  const most = largestBatch((n) => bytesAt(n) <= pools.usableBytes);
  if (most === 0) {
    const bytes = bytesAt(1);
    return { layout, serving, memoryBytes: bytes, misses: [memoryMiss(bytes, pools)], why: null };
  }
  try {
    const choices = on.overlaps.flatMap((overlap) => {
      const found = withinTpot(layout, serving, overlap, most, on, 'bound', counter);
      return found === null ? [] : [outcomeOf(found, serving, prefill, on, 'bound')];
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
  { pools }: Search,
  fidelity: Fidelity,
  counter: Counter,
): DecodePool | MixedPool | null {
  const limit = longestTpotNs(pools.plan);
  const least = leastBatch(layout, overlap);
  if (most < least) return null;
  const at = (n: number) => {
    counter.timed++;
    return serving === 'split'
      ? pools.decode(layout, n, overlap, fidelity)
      : pools.mixed(layout, n, overlap, fidelity);
  };
  const whole = at(most);
  if (whole.tpotNs <= limit) return whole;
  const sequences = largestBatch((n) => n < least || (n < most && at(n).tpotNs <= limit));
  return at(Math.max(sequences, least));
}

function outcomeOf(
  decode: DecodePool | MixedPool,
  serving: Serving,
  prefill: PrefillPool | null,
  { pools, step }: Search,
  fidelity: Fidelity,
): Evaluated {
  const feed = serving === 'split' ? prefill : null;
  const ttftNs = 'ttftNs' in decode ? decode.ttftNs : feed!.latencyNs + pools.transferNs(feed!.layout);
  const size = (pool: DecodePool | PrefillPool) => ({
    ranks: layoutRanks(pool.layout),
    requestsPerSec: pool.requestsPerSec,
  });
  const rate = askedRate(pools.plan, ttftNs, decode.tpotNs);
  const economics = economicsOf(step.scenario, pools.plan, size(decode), feed && size(feed), rate);
  const { costPerMillionTokens, watts, fleet } = economics;
  const misses = missesOf(pools.plan, {
    ...{ ttftNs, tpotNs: decode.tpotNs, costPerMillionTokens },
    watts: fleet === null ? null : watts,
    fleetRanks: fleet?.ranks ?? null,
  });
  const { layout } = decode;
  const memory = pools.memory.fullest(layout, pools.use(poolKind(serving), layout, decode.sequences));
  return { layout, serving, fidelity, decode, prefill: feed, memory, ttftNs, economics, misses };
}

/** Feasible layouts at smaller batches: what speed costs in throughput. */
function morePoints(
  evaluated: readonly Evaluated[],
  prefill: PrefillPool | null,
  on: Search,
  counter: Counter,
): readonly Evaluated[] {
  const { pools } = on;
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
      const point = outcomeOf(pool, serving, prefill, on, 'bound');
      if (point.misses.length === 0) points.push(point);
    }
  }
  return points;
}

/** Refines a result: the same layout with the largest batch that the finer model allows. */
export function refine(coarse: Evaluated, prefill: PrefillPool | null, on: Search): Evaluated {
  const { layout, serving, decode } = coarse;
  const { sequences, overlap } = decode;
  const fine = withinTpot(layout, serving, overlap, sequences, on, 'refined', { timed: 0 }) ?? decode;
  return outcomeOf(fine, serving, prefill, on, 'refined');
}

/** Best first by the bound; refining stops when a refined result is better than every bound that is left. */
function refineBest(
  evaluated: readonly Evaluated[],
  prefill: PrefillPool | null,
  on: Search,
): { readonly evaluated: readonly Evaluated[]; readonly count: number } {
  const queue = [...evaluated].sort(better);
  const fine: Evaluated[] = [];
  let best: Evaluated | undefined;
  while (fine.length < Math.min(queue.length, MOST_REFINED)) {
    const coarse = queue[fine.length];
    if (best !== undefined && fine.length >= LEAST_REFINED && better(best, coarse) <= 0) break;
    const refined = refine(coarse, prefill, on);
    fine.push(refined);
    if (best === undefined || better(refined, best) < 0) best = refined;
  }
  fine.sort(better);
  return { evaluated: [...fine, ...queue.slice(fine.length)], count: fine.length };
}
