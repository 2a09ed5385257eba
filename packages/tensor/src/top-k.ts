/**
 * The k largest of a row of scores, on plain typed arrays.
 * A sorted list of k is kept; a score is compared with its last entry and inserted when above it.
 * For scores that already lie in a kernel's memory, `Kernel.topK` is faster.
 */

/**
 * Writes the indices of the `k` largest of scores[0..count) to outIndex[0..k), largest first, ties to the
 * lower index, and the scores themselves to outValue. NaN counts as minus infinity.
 * Throws RangeError when k is not in 1..count or an output is too short.
 */
export function topK(
  scores: Float32Array,
  count: number,
  k: number,
  outIndex: Int32Array,
  outValue: Float32Array,
): void {
  if (!(k >= 1 && k <= count && count <= scores.length)) {
    throw new RangeError(`cannot take the ${k} largest of ${count} in an array of ${scores.length}`);
  }
  if (outIndex.length < k || outValue.length < k) {
    throw new RangeError(`${k} results do not fit outputs of ${outIndex.length} and ${outValue.length}`);
  }
  let held = 0;
  let limit = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < count; i++) {
    let value = scores[i];
    if (held === k && !(value > limit)) continue;
    if (Number.isNaN(value)) value = Number.NEGATIVE_INFINITY;
    let at = held < k ? held++ : k - 1;
    while (at > 0 && outValue[at - 1] < value) {
      outValue[at] = outValue[at - 1];
      outIndex[at] = outIndex[at - 1];
      at--;
    }
    outValue[at] = value;
    outIndex[at] = i;
    if (held === k) limit = outValue[k - 1];
  }
}
