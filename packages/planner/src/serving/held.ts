/**
 * Objectives on a quantile: the best layouts by their means are simulated under load, and those that hold come first.
 */
import type { Economics } from '../economics.js';
import type { Layout } from '../layout.js';
import { longestTpotNs, type Miss, missesOf } from '../objectives.js';
import { better, type Evaluated, type Search, type SearchResult, search } from '../search.js';
import { type UnderLoad, underLoad } from './under-load.js';

/** Layouts, best first by their means, that are simulated. */
const MOST_SIMULATED = 12;

export interface Held {
  /** Those that hold, best first; then those that were not simulated; then those that miss. */
  readonly ordered: readonly Evaluated[];
  readonly loads: ReadonlyMap<Evaluated, UnderLoad>;
}

/** Shares of the time to the first token that are tried for the idle prefill pool when the quantile is missed. */
const PREFILL_SHARES = [1, 0.6, 0.35];

/** A search whose best layouts hold an objective on a quantile, with quicker prefill pools where it takes them. */
export function searchUnderLoad(
  layouts: readonly Layout[],
  on: Search,
): Held & { readonly found: SearchResult } {
  let last: (Held & { readonly found: SearchResult }) | undefined;
  for (const prefillShare of PREFILL_SHARES) {
    const found = search(layouts, { ...on, prefillShare });
    last = { found, ...heldUnderLoad(found.evaluated, on) };
    const late = last.ordered[0]?.misses.some(({ objective }) => objective === 'ttft') === true;
    if (!late || on.pools.plan.objectives.quantile === null) break;
  }
  return last as Held & { readonly found: SearchResult };
}

/** The same layouts where no objective is on a quantile. */
export function heldUnderLoad(evaluated: readonly Evaluated[], on: Search): Held {
  const { quantile } = on.pools.plan.objectives;
  const loads = new Map<Evaluated, UnderLoad>();
  if (quantile === null) return { ordered: evaluated, loads };
  const feasible = evaluated.filter(({ misses }) => misses.length === 0);
  const tried = feasible.slice(0, MOST_SIMULATED).map((one) => {
    const load = underLoad(one, on);
    const held = withLoad(one, load, on);
    loads.set(held, load);
    return held;
  });
  tried.sort(better);
  const holds = tried.filter(({ misses }) => misses.length === 0);
  const late = tried.filter(({ misses }) => misses.length > 0);
  const rest = holds.length > 0 ? evaluated.slice(tried.length) : [];
  // Where none of the best holds, what was not simulated cannot be called feasible.
  return { ordered: [...holds, ...rest, ...late], loads };
}

function withLoad(one: Evaluated, load: UnderLoad, { pools, step }: Search): Evaluated {
  const { plan } = pools;
  const { fleet, ratePerSec } = load;
  const dollars = plan.dollarsPerHour ?? step.scenario.cluster.dollarsPerHour ?? null;
  const { watts } = step.scenario.cluster.device;
  const asked = one.economics.fleet !== null;
  const rankHours = (1e6 * fleet.ranks) / (ratePerSec * plan.requests.outputTokens) / 3600;
  const economics: Economics = !asked
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
  return { ...one, economics, misses: [...(load.holds === false ? lateness(load, plan) : []), ...others] };
}

/** What a quantile misses when even twice the fleet does not hold it. */
function lateness(load: UnderLoad, plan: Search['pools']['plan']): readonly Miss[] {
  const misses: Miss[] = [];
  const limits = [
    {
      objective: 'ttft',
      value: load.ttftNs.asked,
      limit: plan.objectives.ttftNs ?? Number.POSITIVE_INFINITY,
    },
    { objective: 'tpot', value: load.tpotNs.asked, limit: longestTpotNs(plan) },
  ] as const;
  for (const { objective, value, limit } of limits) {
    if (value > limit) misses.push({ objective, value, limit, ratio: value / limit });
  }
  return misses;
}
