/**
 * The matrix product of the reference blocks, and row-wise odds and ends.
 * Its one idea: plain loops with sums in double precision, row by row, so that a row's result has the same
 * bits alone and in a batch. Weights are row-major [inSize x outSize]. Nothing here is fast.
 */

/** Rows of `width` in `x`. Throws RangeError when it does not hold whole rows. */
export function rowCount(x: Float32Array, width: number): number {
  const rows = x.length / width;
  if (!Number.isInteger(rows)) throw new RangeError(`${x.length} elements are not whole rows of ${width}`);
  return rows;
}

/** out [rows x outSize] = x [rows x inSize] * w [inSize x outSize]. Throws RangeError when the sizes disagree. */
export function linear(
  x: Float32Array,
  w: Float32Array,
  inSize: number,
  outSize: number,
  out = new Float32Array(rowCount(x, inSize) * outSize),
): Float32Array {
  const rows = rowCount(x, inSize);
  if (w.length !== inSize * outSize || out.length !== rows * outSize) {
    throw new RangeError(
      `[${rows} x ${inSize}] * [${inSize} x ${outSize}]: weights have ${w.length} elements, out ${out.length}`,
    );
  }
  const sums = new Float64Array(outSize);
  for (let row = 0; row < rows; row++) {
    sums.fill(0);
    for (let i = 0; i < inSize; i++) {
      const value = x[row * inSize + i];
      for (let j = 0; j < outSize; j++) sums[j] += value * w[i * outSize + j];
    }
    out.set(sums, row * outSize);
  }
  return out;
}

/** out += x, element by element. */
export function addTo(out: Float32Array, x: Float32Array): Float32Array {
  for (let i = 0; i < out.length; i++) out[i] += x[i];
  return out;
}

/** Softmax of values[0..count) in place, in double precision. */
export function softmaxInPlace(values: Float64Array, count = values.length): void {
  let top = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < count; i++) top = Math.max(top, values[i]);
  let total = 0;
  for (let i = 0; i < count; i++) {
    values[i] = Math.exp(values[i] - top);
    total += values[i];
  }
  for (let i = 0; i < count; i++) values[i] /= total;
}
