/**
 * Two-dimensional rotary positions: pairs of channels turn with the patch's column and row in alternation.
 * Its one idea: turning query and key by their own positions makes their product depend only on the offset.
 */

/** Base of the frequencies, 10000^(-4 i / dim) for pair i of one axis. */
const BASE = 10_000;

/**
 * Turns x [patches x heads x dim] in place; patch p stands at row floor(p / columns), column p mod columns, and
 * after `rows` rows the next frame begins at the first row again.
 * Pairs (4i, 4i + 1) turn with the column, (4i + 2, 4i + 3) with the row. Throws RangeError unless dim is a multiple of 4.
 */
export function rotate2d(
  x: Float32Array,
  headCount: number,
  dim: number,
  columns: number,
  rows = Number.POSITIVE_INFINITY,
): Float32Array {
  if (dim % 4 !== 0)
    throw new RangeError(`two-dimensional rotary positions need a multiple of 4 channels, not ${dim}`);
  const wide = headCount * dim;
  for (let patch = 0; patch < x.length / wide; patch++) {
    const place = [patch % columns, Math.floor(patch / columns) % rows];
    for (let pair = 0; pair < dim / 2; pair++) {
      const angle = place[pair % 2] * BASE ** ((-4 * (pair >> 1)) / dim);
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      for (let head = 0; head < headCount; head++) {
        const at = patch * wide + head * dim + 2 * pair;
        const [a, b] = [x[at], x[at + 1]];
        x[at] = a * cos - b * sin;
        x[at + 1] = a * sin + b * cos;
      }
    }
  }
  return x;
}
