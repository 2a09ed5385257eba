/**
 * The plain form of every kernel: loops that say what is meant, in double precision.
 * The vector forms in the kernel are tied to these by tests. Nothing here is fast.
 */

/** Soft bounds of SiTU-GLU, or SwiGLU. `upBound` null leaves the up branch linear. */
export type Glu =
  | { readonly kind: 'swiglu' }
  | { readonly kind: 'situ'; readonly gateBound: number; readonly upBound: number | null };

/** out [m x n] = a [m x k] * b [k x n], all row-major; adds to `out` when `accumulate`. */
export function gemmNaive(
  a: Float32Array,
  b: Float32Array,
  out: Float32Array,
  sizes: { readonly m: number; readonly k: number; readonly n: number; readonly accumulate?: boolean },
): void {
  const { m, k, n } = sizes;
  if (a.length < m * k || b.length < k * n || out.length < m * n) {
    throw new RangeError(
      `[${m} x ${k}] * [${k} x ${n}]: arrays of ${a.length}, ${b.length} and ${out.length} elements are too short`,
    );
  }
  for (let row = 0; row < m; row++) {
    for (let column = 0; column < n; column++) {
      let sum = sizes.accumulate === true ? out[row * n + column] : 0;
      for (let i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + column];
      out[row * n + column] = sum;
    }
  }
}

export function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

/** `bound` * tanh(x / `bound`): x near zero, never beyond the bound. */
export function softBound(x: number, bound: number): number {
  return bound * Math.tanh(x / bound);
}

/**
 * One element of a gated activation. SwiGLU: g sigmoid(g) u.
 * SiTU-GLU: [bg tanh(g/bg) sigmoid(g)] [bu tanh(u/bu)]; its size stays below bg bu (K3: 4 * 25 = 100).
 */
export function gluAt(glu: Glu, gate: number, up: number): number {
  if (glu.kind === 'swiglu') return gate * sigmoid(gate) * up;
  const bounded = glu.upBound === null ? up : softBound(up, glu.upBound);
  return softBound(gate, glu.gateBound) * sigmoid(gate) * bounded;
}

/** out = activation of gate and up, element by element. */
export function gluNaive(glu: Glu, gate: Float32Array, up: Float32Array, out: Float32Array): void {
  for (let i = 0; i < out.length; i++) out[i] = gluAt(glu, gate[i], up[i]);
}

export function sigmoidNaive(x: Float32Array, out: Float32Array): void {
  for (let i = 0; i < out.length; i++) out[i] = sigmoid(x[i]);
}

/** Each row of `width` divided by its root mean square, times `gain` [width]. */
export function rmsNormNaive(
  x: Float32Array,
  gain: Float32Array,
  out: Float32Array,
  width: number,
  eps: number,
): void {
  for (let from = 0; from < x.length; from += width) {
    let squares = 0;
    for (let i = 0; i < width; i++) squares += x[from + i] ** 2;
    const factor = 1 / Math.sqrt(squares / width + eps);
    for (let i = 0; i < width; i++) out[from + i] = x[from + i] * factor * gain[i];
  }
}

/** out += weight * x */
export function axpyNaive(out: Float32Array, x: Float32Array, weight: number): void {
  for (let i = 0; i < out.length; i++) out[i] += weight * x[i];
}

/** out [width] = sum over i, in order, of weights[i] * row index[i] of `rows`; rows below 0 are left out. */
export function weightedSumNaive(
  rows: Float32Array,
  index: Int32Array,
  weights: Float32Array,
  out: Float32Array,
): void {
  const width = out.length;
  for (let i = 0; i < width; i++) {
    let sum = 0;
    for (let term = 0; term < index.length; term++) {
      if (index[term] >= 0) sum += weights[term] * rows[index[term] * width + i];
    }
    out[i] = sum;
  }
}

/** Indices of the k largest of `scores`, largest first, ties to the lower index; NaN counts as minus infinity. */
export function topKNaive(scores: Float32Array, k: number): number[] {
  const value = (i: number) => (Number.isNaN(scores[i]) ? Number.NEGATIVE_INFINITY : scores[i]);
  return Array.from(scores, (_, i) => i)
    .sort((a, b) => (value(a) === value(b) ? a - b : value(b) > value(a) ? 1 : -1))
    .slice(0, k);
}
