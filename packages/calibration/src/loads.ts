/**
 * Loads of the busiest rank in published kernel benchmarks, made the way their collectors make them.
 * The one idea: a measured time means nothing without the rows that each expert had.
 * The rules are those of aiconfigurator's collectors, restated; draws are seeded, so a score is reproducible.
 */
import { randomSource } from '@epsim/spec';

export interface BenchmarkShape {
  /** Tokens over all ranks. */
  readonly tokens: number;
  readonly expertCount: number;
  readonly topK: number;
  /** Expert-parallel ranks; experts are dealt out in order. */
  readonly ranks: number;
}

/** More tokens than this take seconds to deal out, and no kernel was measured with as many. */
const MOST_TOKENS = 2 ** 22;

/** Why no load can be made for a shape; null when one can. */
export function shapeProblem({ tokens, expertCount, topK, ranks }: BenchmarkShape): string | null {
  if (![tokens, expertCount, topK, ranks].every(Number.isInteger)) return 'a count is not whole';
  if (tokens > MOST_TOKENS) return `more than ${MOST_TOKENS} tokens`;
  if (ranks > expertCount) return 'more ranks than experts';
  return topK > expertCount ? 'more choices than experts' : null;
}

/**
 * Rows per expert of the first rank when token t picks experts t + i x stride, stride = ceil(experts / topK);
 * with fewer tokens than that, tokens spread over the stride evenly.
 */
export function balancedLoads(shape: BenchmarkShape): Int32Array {
  const { tokens, expertCount, topK, ranks } = shape;
  const perRank = Math.floor(expertCount / ranks);
  const loads = new Int32Array(perRank);
  const stride = Math.ceil(expertCount / topK);
  for (let token = 0; token < tokens; token++) {
    const first = tokens >= stride ? token : (token * stride) / tokens;
    for (let choice = 0; choice < topK; choice++) {
      const expert = Math.floor(first + choice * stride) % expertCount;
      if (expert < perRank) loads[expert]++;
    }
  }
  return loads;
}

/** A draw from a density x^-alpha between `low` and `high` by its inverse. */
function powerLawDraw(u: number, alpha: number, low: number, high: number): number {
  if (alpha === 1) return low * (high / low) ** u;
  const from = low ** (1 - alpha);
  return ((high ** (1 - alpha) - from) * u + from) ** (1 / (1 - alpha));
}

/**
 * Adds `units` to one rank's experts, each to the least loaded that is below `most`, or takes them from the most
 * loaded above 0 for step -1. Whole levels at a time: what one by one would give. There is room for all units.
 */
function fill(loads: Int32Array, units: number, step: 1 | -1, most: number): void {
  const limit = step === 1 ? most : 0;
  const order = [...loads.keys()].sort((a, b) => step * (loads[a] - loads[b]) || a - b);
  let left = units;
  let width = 0;
  while (left > 0) {
    const level = step * loads[order[0]];
    while (width < order.length && step * loads[order[width]] === level) width++;
    const next = width < order.length ? step * loads[order[width]] : limit;
    const gap = Math.min(next, limit) - level;
    const rise = Math.min(gap, Math.floor(left / width));
    for (let i = 0; i < width; i++) loads[order[i]] += step * rise;
    left -= rise * width;
    if (rise === gap) continue;
    const first = order.slice(0, width).sort((x, y) => x - y);
    for (const expert of first.slice(0, left)) loads[expert] += step;
    left = 0;
  }
}

/**
 * Deals `count` units out to the ranks in turn, each to its least (or from its most) loaded expert; a rank without
 * room is passed over. Whole turns at a time: what one by one would give.
 */
function dealOut(loads: Int32Array, ranks: number, count: number, step: 1 | -1, most: number): void {
  const perRank = Math.floor(loads.length / ranks);
  const parts = Array.from({ length: ranks }, (_, rank) =>
    loads.subarray(rank * perRank, (rank + 1) * perRank),
  );
  const room = parts.map((part) => part.reduce((sum, rows) => sum + (step === 1 ? most - rows : rows), 0));
  const units = new Int32Array(ranks);
  const withRoom = () => [...parts.keys()].filter((rank) => units[rank] < room[rank]);
  let left = count;
  for (let open = withRoom(); left > 0 && open.length > 0; open = withRoom()) {
    const turns = Math.min(Math.floor(left / open.length), ...open.map((rank) => room[rank] - units[rank]));
    const reached = turns > 0 ? open : open.slice(0, left);
    for (const rank of reached) units[rank] += Math.max(turns, 1);
    left -= reached.length * Math.max(turns, 1);
  }
  parts.forEach((part, rank) => {
    fill(part, units[rank], step, most);
  });
}

/**
 * Rows per expert of the rank with the largest sum, when popularity is drawn from a power law with exponent
 * `alpha` between 1 and 0.8 x tokens (0.01 and 2 when there are fewer choices than experts), scaled to
 * tokens x topK, no expert above `tokens`, and what rounding leaves dealt out rank by rank.
 */
export function powerLawLoads(shape: BenchmarkShape, alpha: number, seed: number): Int32Array {
  const { tokens, expertCount, topK, ranks } = shape;
  const choices = tokens * topK;
  const [low, high] = choices > expertCount ? [1, 0.8 * tokens] : [0.01, 2];
  const random = randomSource(seed, 'power-law-loads', tokens, expertCount, ranks);
  const shares = Float64Array.from({ length: expertCount }, () =>
    powerLawDraw(random.uniform(), alpha, low, high),
  );
  const total = shares.reduce((sum, share) => sum + share, 0);
  const loads = new Int32Array(expertCount);
  let over = 0;
  for (let expert = 0; expert < expertCount; expert++) {
    const wanted = Math.round(((shares[expert] as number) / total) * choices);
    loads[expert] = Math.min(wanted, tokens);
    over += wanted - loads[expert];
  }
  dealOut(loads, ranks, over, 1, tokens);
  const rest = choices - loads.reduce((sum, rows) => sum + rows, 0);
  dealOut(loads, ranks, Math.abs(rest), rest > 0 ? 1 : -1, tokens);
  return busiestRank(loads, ranks);
}

/** The rank with the largest sum, [experts per rank]. */
function busiestRank(loads: Int32Array, ranks: number): Int32Array {
  const perRank = Math.floor(loads.length / ranks);
  let best = loads.subarray(0, perRank);
  let most = -1;
  for (let rank = 0; rank < ranks; rank++) {
    const part = loads.subarray(rank * perRank, (rank + 1) * perRank);
    const sum = part.reduce((all, rows) => all + rows, 0);
    if (sum > most) {
      most = sum;
      best = part;
    }
  }
  return best.slice();
}

/**
 * Loads that a table's `distribution` names: 'balanced', or 'power_law_A' and 'power_law_sampled_A' with
 * exponent A, the latter two in `draws` seeded draws. Null for a name that is not known.
 */
export function loadsOf(shape: BenchmarkShape, distribution: string, draws: number): Int32Array[] | null {
  if (distribution === 'balanced') return [balancedLoads(shape)];
  const alpha = /^power_law(?:_sampled)?_(\d+(?:\.\d+)?)$/.exec(distribution)?.[1];
  if (alpha === undefined) return null;
  return Array.from({ length: draws }, (_, seed) => powerLawLoads(shape, Number(alpha), seed));
}
