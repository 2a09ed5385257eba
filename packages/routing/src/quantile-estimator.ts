/**
 * What estimates, per expert, the quantile of the gaps r = cutoff of the token - score over all tokens of a batch.
 * It sees the batch row by row, in one pass or several, and never holds it.
 */

export interface QuantileEstimator {
  /** Starts a batch. No score is above `scoreCeiling`; `bias` is what the cutoffs were taken with. */
  begin(bias: Float32Array, scoreCeiling: number): void;
  /** Adds a token: its scores start at `offset`, [expertCount]; `cutoff` is its (k+1)-th largest score + bias. */
  add(scores: Float32Array, offset: number, cutoff: number): void;
  /**
   * Ends a pass over all tokens. True: the quantiles are in `out`, [expertCount].
   * False: the same tokens must be added once more, in any order.
   */
  endPass(out: Float64Array): boolean;
}
