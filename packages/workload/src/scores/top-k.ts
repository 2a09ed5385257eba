/**
 * The k largest of a row, for measuring a workload: ties go to the lower index.
 * Plain on purpose; the routing that a run uses is elsewhere.
 */

/**
 * Writes the indices of the `k` largest of row[start .. start + count) into `out`, largest first, and their
 * values into `values`, both [k]. Needs k <= count.
 */
export function largest(
  row: Float32Array,
  start: number,
  count: number,
  k: number,
  out: Int32Array,
  values: Float64Array,
): void {
  values.fill(Number.NEGATIVE_INFINITY, 0, k);
  out.fill(-1, 0, k);
  let threshold = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < count; i++) {
    const value = row[start + i];
    if (!(value > threshold) && out[k - 1] >= 0) continue;
    let place = k - 1;
    while (place > 0 && (out[place - 1] < 0 || values[place - 1] < value)) {
      values[place] = values[place - 1];
      out[place] = out[place - 1];
      place--;
    }
    values[place] = value;
    out[place] = i;
    threshold = out[k - 1] < 0 ? Number.NEGATIVE_INFINITY : values[k - 1];
  }
}
