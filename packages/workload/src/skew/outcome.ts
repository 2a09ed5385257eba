/**
 * A skew asked for by what it does: how far the busiest expert and the busiest rank are above the mean.
 * One idea: three things can be chosen freely, and each settles one outcome. The hottest expert is set; the
 * log-normal spread of the others is solved; and of several possible orders of the experts the one is taken whose
 * busiest rank comes nearest. Outcomes are those expected of a batch, sampling included, before any drift, and
 * with experts lying contiguously.
 */
import { z } from 'zod';
import { contiguousRank } from '../lint/contiguous.js';
import { expectedMaximum, hottestFor, logNormalLoads } from './outcome-search.js';
import { defineSkew, descending, type SkewSite } from './skew.js';

const LARGEST_SPREAD = 8;
const NOISE_DRAWS = 16;
const BISECTIONS = 20;
/** Orders to choose from: the nearest of 32 misses a rank's load by 1 % where they spread by a fifth. */
const ORDER_TRIES = 32;
/** Share of the asked outcome by which a layer may miss it. */
const TOLERANCE = 0.1;

export const outcome = defineSkew({
  summary: 'log-normal popularity, solved for the load of the busiest expert, the busiest rank, or both',
  options: z.strictObject({
    kind: z.literal('outcome').default('outcome').describe('what popularity is drawn from'),
    expertMaxOverMean: z.number().min(1).optional().describe('busiest expert over the mean, each layer'),
    rankMaxOverMean: z.number().min(1).optional().describe('busiest rank over the mean, experts contiguous'),
    expertCv: z.number().min(0).optional().describe('standard deviation of expert loads over their mean'),
    ranks: z
      .int()
      .min(1)
      .optional()
      .describe('ranks it was seen on; as many as the scenario has unless said'),
    tokensPerRank: z.int().min(1).optional().describe('tokens of a rank it was seen at; likewise'),
  }),
  popularity: (site, options) => {
    const seen = {
      ...site,
      rankCount: options.ranks ?? site.rankCount,
      tokensPerRank: options.tokensPerRank ?? site.tokensPerRank,
    };
    return { kind: 'loads', ...solve(seen, options) };
  },
  describe: (options) => {
    const asked = [
      ['the busiest expert at', options.expertMaxOverMean, 'x the mean'],
      ['the busiest rank at', options.rankMaxOverMean, 'x the mean'],
      ['expert loads with a deviation of', options.expertCv, 'of the mean'],
    ] as const;
    const parts = asked.filter(([, value]) => value !== undefined).map((part) => part.join(' '));
    const ranks = options.ranks === undefined ? '' : ` on ${options.ranks} ranks`;
    return `popularity solved for ${parts.join(' and ')}${ranks}`;
  },
});

interface Outcomes {
  readonly expertMaxOverMean?: number | undefined;
  readonly rankMaxOverMean?: number | undefined;
  readonly expertCv?: number | undefined;
}

interface Solution {
  readonly values: Float64Array;
  readonly orderTry: number;
  readonly fitted: string;
}

/** Loads by place with mean 1, [expertCount], and the order to use. Throws RangeError with what can be reached. */
function solve(site: SkewSite, asked: Outcomes): Solution {
  const { expertCount, rankCount } = site;
  if (asked.expertMaxOverMean === undefined && asked.rankMaxOverMean === undefined) {
    throw new RangeError('skew: nothing asked; give expertMaxOverMean, rankMaxOverMean or both');
  }
  if (rankCount > expertCount) {
    throw new RangeError(`skew: ${rankCount} ranks for ${expertCount} experts; each rank needs one`);
  }
  const spreads = descending(Float64Array.from({ length: expertCount }, () => site.random.normal()));
  const cap = expertCount / site.topK;
  const measures = measuresOf(site);
  const loadsAt = (sigma: number): Float64Array =>
    asked.expertMaxOverMean === undefined || onlyExpert(asked)
      ? logNormalLoads(spreads, sigma, cap, undefined)
      : hottestFor(asked.expertMaxOverMean, cap, measures.expert, (hottest) =>
          logNormalLoads(spreads, sigma, cap, hottest),
        );
  const solution = (sigma: number, orderTry: number): Solution => {
    const values = loadsAt(sigma);
    const fitted = `log-normal loads with sigma ${sigma.toFixed(3)}, the hottest ${values[0].toFixed(2)} x the mean`;
    return { values, orderTry, fitted };
  };
  if (onlyExpert(asked)) {
    return solution(bisect(loadsAt, measures.expert, asked.expertMaxOverMean!, 'expertMaxOverMean', site), 0);
  }
  const orders = Array.from({ length: ORDER_TRIES }, (_, orderTry) => site.placesOf(orderTry));
  const rankTarget = asked.rankMaxOverMean;
  const typical = (loads: Float64Array): number => mean(orders.map((order) => measures.rank(loads, order)));
  const sigma =
    asked.expertCv === undefined
      ? bisect(loadsAt, typical, rankTarget!, 'rankMaxOverMean', site)
      : bisect(loadsAt, variationOf, asked.expertCv, 'expertCv', site);
  const spread = loadsAt(sigma);
  checkNear('expertMaxOverMean', asked.expertMaxOverMean, measures.expert(spread), site);
  if (rankTarget === undefined) return solution(sigma, 0);
  const misses = orders.map((order) => Math.abs(measures.rank(spread, order) - rankTarget));
  const orderTry = misses.indexOf(Math.min(...misses));
  checkNear('rankMaxOverMean', rankTarget, measures.rank(spread, orders[orderTry]), site);
  return solution(sigma, orderTry);
}

function onlyExpert(asked: Outcomes): boolean {
  return asked.rankMaxOverMean === undefined && asked.expertCv === undefined;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Standard deviation of loads with mean 1. */
function variationOf(loads: Float64Array): number {
  return Math.sqrt(loads.reduce((sum, load) => sum + (load - 1) ** 2, 0) / loads.length);
}

function checkNear(name: string, target: number | undefined, reached: number, site: SkewSite): void {
  if (target !== undefined && Math.abs(reached - target) > TOLERANCE * target) {
    throw unreachable(name, target, reached, site);
  }
}

/** The spread at which the measure comes to `target`. Throws RangeError when none does. */
function bisect(
  loadsAt: (sigma: number) => Float64Array,
  measure: (loads: Float64Array) => number,
  target: number,
  name: string,
  site: SkewSite,
): number {
  let low = 0;
  let high = 1 / 64;
  const least = measure(loadsAt(0));
  if (least > target) {
    checkNear(name, target, least, site);
    return 0;
  }
  while (measure(loadsAt(high)) < target) {
    low = high;
    high *= 2;
    if (high > LARGEST_SPREAD) throw unreachable(name, target, measure(loadsAt(LARGEST_SPREAD)), site);
  }
  for (let i = 0; i < BISECTIONS; i++) {
    const middle = (low + high) / 2;
    if (measure(loadsAt(middle)) < target) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

function unreachable(name: string, target: number, bound: number, site: SkewSite): RangeError {
  const side = bound > target ? 'at least' : 'at most';
  return new RangeError(
    `skew.${name}: out of reach: ${target}; ${site.expertCount} experts, top-${site.topK}, on ` +
      `${site.rankCount} ranks x ${site.tokensPerRank} tokens give ${side} ${bound.toFixed(3)}, sampling included`,
  );
}

/** Expected maximum over experts and over ranks, over the mean, of a batch with these loads by place. */
function measuresOf(site: SkewSite): {
  expert(loads: Float64Array): number;
  rank(loads: Float64Array, placeOfExpert: Int32Array): number;
} {
  const { expertCount, rankCount, topK, random } = site;
  const tokens = rankCount * site.tokensPerRank;
  const expertNoise = Float64Array.from({ length: NOISE_DRAWS * expertCount }, () => random.normal());
  const rankNoise = Float64Array.from({ length: NOISE_DRAWS * rankCount }, () => random.normal());
  const meanCount = (tokens * topK) / expertCount;
  // Loads are relative to the mean: an expert's chance per token is load x topK / expertCount.
  const varianceOf = (load: number): number =>
    Math.max(0, load * (1 - Math.min(1, (load * topK) / expertCount))) / meanCount;
  return {
    expert: (loads) => expectedMaximum(loads, loads.map(varianceOf), expertNoise),
    rank: (loads, placeOfExpert) => {
      const sums = new Float64Array(rankCount);
      const variances = new Float64Array(rankCount);
      for (let e = 0; e < expertCount; e++) {
        const rank = contiguousRank(e, expertCount, rankCount);
        sums[rank] += loads[placeOfExpert[e]];
        variances[rank] += varianceOf(loads[placeOfExpert[e]]);
      }
      const meanSum = expertCount / rankCount;
      // A token's choices are distinct, so one more on this rank is one less elsewhere.
      const others = 1 - 1 / rankCount;
      return expectedMaximum(
        sums.map((sum) => sum / meanSum),
        variances.map((variance) => (variance * others) / (meanSum * meanSum)),
        rankNoise,
      );
    },
  };
}
