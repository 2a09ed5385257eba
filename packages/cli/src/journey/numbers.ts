/** Numbers of a trace: five significant digits, plain arrays. */

export function round(value: number, digits = 5): number {
  return Number(value.toPrecision(digits));
}

export function rounded(values: ArrayLike<number>, digits = 5): number[] {
  return Array.from(values, (value) => round(value, digits));
}

export function rms(values: ArrayLike<number>): number {
  let squares = 0;
  for (let i = 0; i < values.length; i++) squares += values[i] ** 2;
  return Math.sqrt(squares / Math.max(1, values.length));
}

/** Row `row` of a matrix with rows of `width`. */
export function rowOf(matrix: Float32Array, row: number, width: number): Float32Array {
  return matrix.subarray(row * width, (row + 1) * width);
}
