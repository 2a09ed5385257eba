/**
 * From the share of tokens that an expert is to get to the offset of its router scores.
 * One idea: with normal noise, expert e is among the top k when its score passes the k-th best of the others,
 * so its chance is the mean over tokens of Phi(offset - that threshold). Starting from Phi^-1(share), a few
 * corrections in the same measure on a fixed sample of tokens make chance and share agree.
 * Knows nothing of where shares come from.
 */
import { addNoise, noiseState } from './noise.js';
import { normalBelow, normalQuantile } from './normal-curve.js';
import { largest } from './top-k.js';

/** What tokens have in common beyond popularity: row `variant` is added to the scores of some tokens. */
export interface Leanings {
  /** Rows that tokens fall into, equally often. */
  readonly variantCount: number;
  /** Adds the row of a variant to `row`, [expertCount]. */
  addTo(variant: number, row: Float32Array): void;
}

const SAMPLE_ELEMENTS = 2 ** 18;
/** Kinds of tokens that a sample visits: where there are more, an even choice of them. */
const MOST_VARIANTS = 1024;
/** Most corrections; two are enough without topics. */
const ROUNDS = 8;
/** Gap, over the load plus the mean load, below which no further correction follows. */
const CLOSE_ENOUGH = 0.01;
const MOST_CHANCE = 1 - 1e-9;
/** Distance below the least popular expert at which an expert with no load at all is put. */
const NEVER = 8;

/**
 * Chances of being chosen per token, [expertCount], that are proportional to `loads` where they can be, sum to
 * `topK`, and stay at most 1: a token chooses an expert once, so what an expert cannot take goes to the others.
 * Throws RangeError when fewer than topK experts have load.
 */
export function chancesFromLoads(loads: ArrayLike<number>, topK: number): Float64Array {
  const chances = Float64Array.from(loads);
  const loaded = chances.reduce((count, load) => count + (load > 0 ? 1 : 0), 0);
  if (loaded < topK) {
    throw new RangeError(
      `loads: ${loaded} of ${chances.length} experts have load, top-${topK} needs ${topK}`,
    );
  }
  const full = new Uint8Array(chances.length);
  for (;;) {
    let free = 0;
    let fullCount = 0;
    for (let e = 0; e < chances.length; e++) {
      if (full[e] === 1) fullCount++;
      else free += chances[e];
    }
    const scale = free > 0 ? (topK - fullCount) / free : 0;
    let grew = false;
    for (let e = 0; e < chances.length; e++) {
      if (full[e] === 1) continue;
      chances[e] *= scale;
      if (chances[e] >= 1 && loads[e] > 0) {
        chances[e] = 1;
        full[e] = 1;
        grew = true;
      }
    }
    if (!grew) return chances;
  }
}

/**
 * Score offsets, [expertCount] with mean 0 over the experts that have any chance, such that plain top-k on
 * offset + leaning + standard normal noise chooses expert e with probability `chances`[e] (as from
 * `chancesFromLoads`). Deterministic in `seed`. On 896 experts, top-16, the realised shares of experts with at
 * least a tenth of the mean load are within 2 % of the asked ones beyond sampling (a test holds it to that).
 */
export function offsetsForChances(
  chances: Float64Array,
  topK: number,
  leanings: Leanings,
  seed: number,
): Float32Array {
  const count = chances.length;
  const wanted = Float64Array.from(chances, (p) => normalQuantile(Math.min(p, MOST_CHANCE)));
  const offsets = Float64Array.from(wanted);
  sinkUnloaded(offsets, chances);
  if (topK === count) return new Float32Array(count);
  for (let round = 0; round < ROUNDS; round++) {
    const realised = chancesOf(Float32Array.from(offsets), topK, leanings, seed);
    let worst = 0;
    for (let e = 0; e < count; e++) {
      if (!(chances[e] > 0)) continue;
      worst = Math.max(worst, Math.abs(realised[e] - chances[e]) / (chances[e] + topK / count));
      offsets[e] += wanted[e] - normalQuantile(Math.min(realised[e], MOST_CHANCE));
    }
    sinkUnloaded(offsets, chances);
    if (worst < CLOSE_ENOUGH) break;
  }
  return centred(offsets, chances);
}

/** Chance of each expert under `offsets`, [expertCount], from a fixed sample without counting noise. */
function chancesOf(offsets: Float32Array, topK: number, leanings: Leanings, seed: number): Float64Array {
  const count = offsets.length;
  const tokens = Math.min(4096, SAMPLE_ELEMENTS / count);
  const visits = Math.min(leanings.variantCount, MOST_VARIANTS);
  const perVariant = Math.ceil(tokens / visits);
  const state = noiseState(seed, 'popularity sample');
  const base = new Float32Array(count);
  const row = new Float32Array(count);
  const ids = new Int32Array(topK + 1);
  const best = new Float64Array(topK + 1);
  const sums = new Float64Array(count);
  for (let visit = 0; visit < visits; visit++) {
    base.set(offsets);
    leanings.addTo(visits < leanings.variantCount ? spreadOver(visit, leanings.variantCount) : visit, base);
    for (let token = 0; token < perVariant; token++) {
      addNoise(state, base, row, 0);
      largest(row, 0, count, topK + 1, ids, best);
      const outside = best[topK - 1];
      const inside = best[topK];
      for (let e = 0; e < count; e++) {
        sums[e] += normalBelow(base[e] - (row[e] >= outside ? inside : outside));
      }
    }
  }
  // They sum to topK but for the sample's error, which is common to all and does no harm when taken out.
  const total = sums.reduce((all, sum) => all + sum, 0);
  return sums.map((sum) => (sum * topK) / total);
}

/** The visit-th of evenly spread whole numbers below `count` (multiples of the golden ratio, modulo 1). */
function spreadOver(visit: number, count: number): number {
  return Math.floor(((visit * 0.6180339887498949) % 1) * count);
}

function sinkUnloaded(offsets: Float64Array, chances: Float64Array): void {
  let lowest = Number.POSITIVE_INFINITY;
  for (let e = 0; e < offsets.length; e++) if (chances[e] > 0) lowest = Math.min(lowest, offsets[e]);
  for (let e = 0; e < offsets.length; e++) if (!(chances[e] > 0)) offsets[e] = lowest - NEVER;
}

function centred(offsets: Float64Array, chances: Float64Array): Float32Array {
  let sum = 0;
  let loaded = 0;
  for (let e = 0; e < offsets.length; e++) {
    if (!(chances[e] > 0)) continue;
    sum += offsets[e];
    loaded++;
  }
  return Float32Array.from(offsets, (offset) => offset - sum / loaded);
}
