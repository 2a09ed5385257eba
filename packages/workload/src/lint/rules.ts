/**
 * The rules of lint, each a known way in which a synthetic or recorded workload was wrong and nobody noticed.
 * Placement is contiguous, as in engines without balancing.
 */
import { NO_EXPERT } from '@epsim/spec';
import { contiguousRank } from './contiguous.js';
import { digitsOfPossibleRows, rowPlace, type StepSample } from './sample.js';

export type Severity = 'error' | 'warning' | 'note';

export interface RuleHit {
  readonly severity: Severity;
  readonly message: string;
}

export interface LintRule {
  readonly summary: string;
  /** What is wrong with a step, or null. */
  check(sample: StepSample): RuleHit | null;
}

const duplicateExperts: LintRule = {
  summary: 'a token chooses an expert twice',
  check: (sample) => {
    const { topK } = sample;
    for (const { choices, layer } of sample.layers) {
      for (let i = 0; i < choices.length; i++) {
        const start = i - (i % topK);
        if (choices[i] === NO_EXPERT || choices.indexOf(choices[i], start) === i) continue;
        const place = rowPlace(sample, start / topK);
        return {
          severity: 'error',
          message: `expert ${choices[i]} twice in one token: layer ${layer}, ${place}`,
        };
      }
    }
    return null;
  },
};

const idleRanks: LintRule = {
  summary: 'a rank whose experts no token chooses',
  check: (sample) => {
    const rankCount = sample.tokenOffsets.length - 1;
    for (const { loads, layer } of sample.layers) {
      const ranks = rankLoadsOf(loads, rankCount);
      const mean = sum(ranks) / rankCount;
      const idle = [...ranks.keys()].filter((rank) => ranks[rank] === 0);
      // With few choices a rank may be missed by chance: exp(-20) is not chance.
      if (idle.length > 0 && mean > 0) {
        const severity = mean >= 20 ? 'error' : 'note';
        const names = idle.slice(0, 8).join(', ');
        return {
          severity,
          message: `${idle.length} of ${rankCount} ranks get no token (${names}): layer ${layer}, ${mean.toFixed(1)} choices a rank on average`,
        };
      }
    }
    return null;
  },
};

const sameTokensOnRanks: LintRule = {
  summary: 'ranks have the same tokens',
  check: ({ tokenOffsets, signatures }) => {
    const first = signatures.subarray(tokenOffsets[0], tokenOffsets[1]);
    if (first.length < 4) return null;
    const equal: number[] = [];
    for (let rank = 1; rank + 1 < tokenOffsets.length; rank++) {
      const own = signatures.subarray(tokenOffsets[rank], tokenOffsets[rank + 1]);
      if (own.length === first.length && own.every((value, i) => value === first[i])) equal.push(rank);
    }
    if (equal.length === 0) return null;
    const all = equal.length === tokenOffsets.length - 2;
    const who = all ? 'all ranks have' : `ranks ${equal.slice(0, 8).join(', ')} have`;
    return {
      severity: 'error',
      message: `${who} the same ${first.length} tokens as rank 0: one seed for all ranks?`,
    };
  },
};

const repeatedTokens: LintRule = {
  summary: 'fewer distinct tokens than reported',
  check: (sample) => {
    const tokens = sample.signatures.filter((_, row) => sample.isToken[row] === 1);
    const distinct = new Set(tokens).size;
    // A token meets an equal one by chance about tokens / possible sets times; skew multiplies that, by far less
    // than 10^4. Where that is no small share, nothing can be said.
    if (digitsOfPossibleRows(sample) < Math.log10(tokens.length + 1) + 4) return null;
    if (distinct >= 0.9 * tokens.length) return null;
    return {
      severity: 'warning',
      message: `${tokens.length} tokens, ${distinct} of them distinct in their choices`,
    };
  },
};

const repeatedRows: LintRule = {
  summary: 'identical consecutive rows, as padding that holds stale ids',
  check: (sample) => {
    const { signatures, tokenOffsets, isToken, topK } = sample;
    const shortest = topK > 1 ? 3 : 8;
    let longest = 0;
    let start = 0;
    for (let rank = 0; rank + 1 < tokenOffsets.length; rank++) {
      let runStart = tokenOffsets[rank];
      for (let row = runStart; row < tokenOffsets[rank + 1]; row++) {
        if (signatures[row] !== signatures[runStart] || isToken[row] === 0) runStart = row;
        if (isToken[row] === 1 && row - runStart + 1 > longest) {
          longest = row - runStart + 1;
          start = runStart;
        }
      }
    }
    if (longest < shortest) return null;
    const chance = signatures.length * 10 ** (-digitsOfPossibleRows(sample) * (longest - 1));
    if (!sample.recorded && chance > 1e-6) return null;
    return {
      severity: chance > 1e-6 ? 'note' : 'warning',
      message: `${longest} identical consecutive rows from ${rowPlace(sample, start)}: padding? state the real token count`,
    };
  },
};

const padding: LintRule = {
  summary: 'rows that only pad',
  check: ({ isToken }) => {
    const tokens = sum(isToken);
    if (tokens === isToken.length) return null;
    const message = `${tokens} tokens, ${isToken.length - tokens} rows of padding`;
    return { severity: tokens === 0 ? 'error' : 'note', message };
  },
};

/** DeepSeek-R1 on 32 ranks (TensorRT-LLM blog 4) and Kimi K3 on 16 (vLLM pull request 50647), both without EPLB. */
const published = { expertMaxOverMean: 11.948, rankMaxOverMean: 2.564, leastRankMaxOverMean: 1.069 } as const;
/** Factor over the most uneven published model beyond which a skew is far from real ones. */
const FAR = 2;

const farSkew: LintRule = {
  summary: 'loads far from those published for real models, or more even than chance',
  check: (sample) => {
    const { expertCount, topK, tokenOffsets, layers } = sample;
    const rankCount = tokenOffsets.length - 1;
    const tokens = sum(sample.isToken);
    const mean = (tokens * topK) / expertCount;
    if (mean < 8) return null;
    const average = (measure: (loads: Float64Array) => number): number =>
      sum(layers.map(({ loads }) => measure(loads))) / layers.length;
    const expert = average(maxOverMean);
    const rank = average((loads) => maxOverMean(rankLoadsOf(loads, rankCount)));
    if (expert > FAR * published.expertMaxOverMean || rank > FAR * published.rankMaxOverMean) {
      return {
        severity: 'warning',
        message:
          `busiest expert ${expert.toFixed(2)} x the mean, busiest rank ${rank.toFixed(2)} x; ` +
          `published for real models: at most ${published.expertMaxOverMean} and ${published.rankMaxOverMean}`,
      };
    }
    // Independent tokens with equal popularity: variance of a count is tokens x p (1 - p).
    const spread = average(variance) / (mean * (1 - topK / expertCount));
    if (spread < 0.5) {
      return {
        severity: 'warning',
        message: `expert loads vary ${spread.toFixed(2)} x as much as chance alone makes them: dealt out, not routed?`,
      };
    }
    // The variance of n counts is itself uncertain by sqrt(2 / n).
    if (spread < 1 + 4 * Math.sqrt(2 / (expertCount * layers.length))) {
      return {
        severity: 'note',
        message:
          'experts are equally popular but for chance; no real model published is: the most even, Kimi K3, has ' +
          `its busiest of 16 ranks at ${published.leastRankMaxOverMean} x the mean`,
      };
    }
    return null;
  },
};

export const lintRules = {
  'duplicate-experts': duplicateExperts,
  'idle-ranks': idleRanks,
  'same-tokens-on-ranks': sameTokensOnRanks,
  'repeated-tokens': repeatedTokens,
  'repeated-rows': repeatedRows,
  'far-skew': farSkew,
  padding,
} as const satisfies Record<string, LintRule>;

export type LintRuleName = keyof typeof lintRules;

function rankLoadsOf(loads: Float64Array, rankCount: number): Float64Array {
  const ranks = new Float64Array(rankCount);
  loads.forEach((load, e) => {
    ranks[contiguousRank(e, loads.length, rankCount)] += load;
  });
  return ranks;
}

function sum(values: ArrayLike<number>): number {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i];
  return total;
}

function maxOverMean(values: Float64Array): number {
  const total = sum(values);
  return total > 0 ? (Math.max(...values) * values.length) / total : 1;
}

function variance(values: Float64Array): number {
  const mean = sum(values) / values.length;
  return sum(values.map((value) => (value - mean) ** 2)) / values.length;
}
