/**
 * Kimi K3's estimator of the balancing bias: per expert a histogram of the bias it would need to be admitted by
 * each token, r = cutoff of the token - score, over [min b - 1, max b + 1].
 * Counts of disjoint parts of a batch add up to the counts of the whole, which is why ranks can share them by one sum.
 */
import type { QuantileEstimator } from './quantile-estimator.js';

export interface GapHistogram extends QuantileEstimator {
  /** Tokens per expert and bin, [expertCount x binCount]. */
  readonly counts: Int32Array;
  /** Adds the counts that another part of the batch gave in the same range. Throws RangeError when shapes differ. */
  merge(counts: Int32Array): void;
}

/**
 * A histogram of `binCount` bins per expert, in memory that `allocate` gives. `fraction` is topK / expertCount, the
 * share of tokens that each expert should admit. The quantile is interpolated inside its bin; gaps beyond the range
 * count in the outermost bin.
 * Source: Kimi K3 report, section 2.3.3, as described in Megatron-LM pull request 6637.
 */
export function createGapHistogram(
  expertCount: number,
  fraction: number,
  allocate: (size: number) => Int32Array = (size) => new Int32Array(size),
  binCount = 1000,
): GapHistogram {
  const counts = allocate(expertCount * binCount);
  let low = -1;
  let binsPerUnit = binCount / 2;
  let tokens = 0;
  return {
    counts,
    begin(bias, scoreCeiling) {
      let least = Infinity;
      let most = -Infinity;
      for (const b of bias) {
        least = Math.min(least, b);
        most = Math.max(most, b);
      }
      low = least - scoreCeiling;
      binsPerUnit = binCount / (most - least + 2 * scoreCeiling);
      tokens = 0;
      counts.fill(0);
    },
    add(scores, offset, cutoff) {
      const base = cutoff - low;
      const last = binCount - 1;
      for (let expert = 0, row = 0; expert < expertCount; expert++, row += binCount) {
        let bin = ((base - scores[offset + expert]) * binsPerUnit) | 0;
        if (bin > last) bin = last;
        else if (bin < 0) bin = 0;
        counts[row + bin]++;
      }
      tokens++;
    },
    merge(other) {
      if (other.length !== counts.length) {
        throw new RangeError(`cannot add ${other.length} counts to ${counts.length}`);
      }
      let added = 0;
      for (let i = 0; i < other.length; i++) counts[i] += other[i];
      for (let bin = 0; bin < binCount; bin++) added += other[bin];
      tokens += added;
    },
    endPass(out) {
      const wanted = tokens * fraction;
      for (let expert = 0; expert < expertCount; expert++) {
        const row = expert * binCount;
        let below = 0;
        let bin = 0;
        while (bin < binCount - 1 && below + counts[row + bin] < wanted) below += counts[row + bin++];
        const within = counts[row + bin] > 0 ? Math.min(1, (wanted - below) / counts[row + bin]) : 0;
        out[expert] = low + (bin + within) / binsPerUnit;
      }
      return true;
    },
  };
}
