/**
 * How large dispatch buffers have to be: rows that a rank receives in a layer, as quantiles over steps.
 * The one idea: a buffer is one size for all ranks and must hold a whole step, so what counts is the rank that
 * receives most in each step; the quantile says in how many steps even that one fits.
 */

/** Rows that arrive at each rank from others, [rankCount], from `rowsPerPair` ([rankCount x rankCount], from s to d). */
export function receivedRows(rowsPerPair: ArrayLike<number>, rankCount: number): Int32Array {
  if (rowsPerPair.length !== rankCount * rankCount) {
    throw new RangeError(
      `rowsPerPair has ${rowsPerPair.length} entries, expected [${rankCount} x ${rankCount}]`,
    );
  }
  const rows = new Int32Array(rankCount);
  for (let from = 0; from < rankCount; from++) {
    for (let to = 0; to < rankCount; to++) if (to !== from) rows[to] += rowsPerPair[from * rankCount + to];
  }
  return rows;
}

export interface BufferSize {
  /** Share of the steps in which it is enough. */
  readonly quantile: number;
  /** Rows that hold what the fullest rank receives, in that share of the steps. */
  readonly rows: number;
  /** The same for each rank by itself, [rankCount]. */
  readonly rowsByRank: readonly number[];
}

/**
 * Buffer sizes for each of `quantiles`, from the rows received in every step ([steps][rankCount]). A quantile
 * is the least observed count that covers the share, so 1 is the maximum. Throws RangeError without steps.
 */
export function bufferSizes(
  rowsByStep: readonly ArrayLike<number>[],
  quantiles: readonly number[] = [0.5, 0.9, 0.99, 1],
): BufferSize[] {
  if (rowsByStep.length === 0) throw new RangeError('buffer sizes: no steps observed');
  const rankCount = rowsByStep[0].length;
  const sorted = (pick: (rows: ArrayLike<number>) => number) => Float64Array.from(rowsByStep, pick).sort();
  const fullest = sorted((rows) => Array.from(rows).reduce((most, count) => Math.max(most, count), 0));
  const byRank = Array.from({ length: rankCount }, (_, rank) => sorted((rows) => rows[rank]));
  return quantiles.map((quantile) => {
    if (!(quantile >= 0 && quantile <= 1))
      throw new RangeError(`quantile must be from 0 to 1, not ${quantile}`);
    const at = Math.max(0, Math.ceil(quantile * rowsByStep.length - 1e-9) - 1);
    return { quantile, rows: fullest[at], rowsByRank: byRank.map((values) => values[at]) };
  });
}
