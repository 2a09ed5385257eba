/**
 * Objectives under load: the best layouts by their bounds are simulated at the asked rate, and those that hold come
 * first.
 * One idea: a queue never gives less than the bounds say, so once enough layouts hold, what is left by its bounds
 * need not be tried.
 */
import { askedRate } from '../economics.js';
import type { Layout } from '../layout.js';
import { longestTpotNs, type Miss, missesOf } from '../objectives.js';
import { heldUnderLoad } from '../pools.js';
import {
  better,
  type Evaluated,
  outcomeOf,
  refine,
  type Search,
  type SearchResult,
  search,
} from '../search.js';
import { LOAD_WITHOUT_RATE, type UnderLoad, underLoad } from './under-load.js';

/** Layouts of each way to serve that are simulated at least, and at most where few of them hold. */
const LEAST_SIMULATED = 2;
const MOST_SIMULATED = 24;

/** A search whose feasible layouts are ordered by what a queue confirms; as they were where nothing is held under load. */
export function searchUnderLoad(layouts: readonly Layout[], on: Search): SearchResult {
  const found = search(layouts, on);
  return heldUnderLoad(on.pools.plan) ? confirmed(found, on) : found;
}

/** Those that hold, best first; those that only bounds speak for; those that miss. */
function confirmed(found: SearchResult, on: Search): SearchResult {
  const passed = found.evaluated.filter(({ misses }) => misses.length === 0);
  const late = found.evaluated.filter(({ misses }) => misses.length > 0);
  const holds: Evaluated[] = [];
  const tried = new Set<Evaluated>();
  for (const serving of on.servings) {
    const ranked = passed.filter((one) => one.serving === serving).slice(0, MOST_SIMULATED);
    for (const [i, one] of ranked.entries()) {
      const [best] = holds;
      if (i >= LEAST_SIMULATED && best !== undefined && better(best, one) <= 0) break;
      const held = simulated(one, found, on, best?.economics.fleet?.ranks);
      if (held === null) continue;
      tried.add(one);
      (held.misses.length === 0 ? holds : late).push(held);
      holds.sort(better);
    }
  }
  const rest = passed.filter((one) => !tried.has(one));
  late.sort(better);
  if (holds.length > 0) return { ...found, evaluated: [...holds, ...rest, ...late] };
  // Where none of the best holds, what was not simulated cannot be called feasible.
  const why = `not simulated: ${tried.size} layouts with fewer ranks or more throughput miss an objective under load`;
  const untried = rest.map(({ layout, serving, memory }) => ({
    ...{ layout, serving, memoryBytes: memory.total, misses: [], why },
  }));
  return { ...found, evaluated: late, fallen: [...untried, ...found.fallen], points: [] };
}

/**
 * A layout under load, by the finer times unless the bound's are late already; null where it would take more than
 * `mostRanks` to find out.
 */
function simulated(one: Evaluated, found: SearchResult, on: Search, mostRanks?: number): Evaluated | null {
  const loaded = (at: Evaluated): Evaluated | null => {
    if (at.misses.length > 0) return at;
    const load = underLoad(at, on, mostRanks);
    return load.holds === null ? null : withLoad(at, load, on);
  };
  const first = loaded(withFeed(one, found, on));
  if (one.fidelity === 'refined' || first === null || first.misses.length > 0) return first;
  return loaded(withFeed(refine(one, feedOf(one, found), on), found, on));
}

const feedOf = ({ prefill, economics }: Evaluated, { feeds }: SearchResult) =>
  prefill === null ? null : (feeds?.(economics.fleet?.ratePerSec ?? null) ?? null);

/** With the prefill pool for the layout's own rate, where that was not known before. */
function withFeed(one: Evaluated, { feeds }: SearchResult, on: Search): Evaluated {
  const { decode, prefill, serving, fidelity, ttftNs } = one;
  if (prefill === null || feeds === null || on.pools.plan.requests.ratePerSec !== null) return one;
  const rate = askedRate(on.pools.plan, ttftNs, decode.tpotNs) ?? LOAD_WITHOUT_RATE * decode.requestsPerSec;
  return outcomeOf(decode, serving, feeds(rate), on, fidelity);
}

/** What a queue gave instead of bounds, on the fleet that it took. */
function withLoad(one: Evaluated, load: UnderLoad, { pools, step }: Search): Evaluated {
  const { plan } = pools;
  const { fleet, ratePerSec } = load;
  const dollars = plan.dollarsPerHour ?? step.scenario.cluster.dollarsPerHour ?? null;
  const { watts } = step.scenario.cluster.device;
  const asked = one.economics.fleet !== null;
  const rankHours = (1e6 * fleet.ranks) / (ratePerSec * plan.requests.outputTokens) / 3600;
  const economics = !asked
    ? one.economics
    : {
        tokensPerSecPerRank: one.economics.tokensPerSecPerRank,
        fleet,
        rankHoursPerMillionTokens: rankHours,
        costPerMillionTokens: dollars === null ? null : dollars * rankHours,
        watts: watts === undefined ? null : watts * fleet.ranks,
      };
  const others = missesOf(plan, {
    ttftNs: 0,
    tpotNs: 0,
    costPerMillionTokens: economics.costPerMillionTokens,
    watts: asked ? economics.watts : null,
    fleetRanks: asked ? fleet.ranks : null,
  });
  const misses = [...(load.holds === false ? lateness(load, plan) : []), ...others];
  return { ...one, economics, load, ttftNs: load.ttftNs.asked, misses };
}

/** What a quantile misses when even twice the fleet does not hold it. */
function lateness(load: UnderLoad, plan: Search['pools']['plan']): readonly Miss[] {
  const { ratePerSec } = load;
  const under = { quantile: plan.objectives.quantile ?? 0.5, ratePerSec };
  const limits = [
    {
      objective: 'ttft',
      value: load.ttftNs.asked,
      limit: plan.objectives.ttftNs ?? Number.POSITIVE_INFINITY,
    },
    { objective: 'tpot', value: load.tpotNs.asked, limit: longestTpotNs(plan) },
  ] as const;
  return limits
    .filter(({ value, limit }) => value > limit)
    .map((one) => ({ ...one, ratio: one.value / one.limit, under }));
}
