/**
 * k distinct numbers out of n by Floyd's method: k draws, no rejection, every subset equally likely.
 * Source: Bentley and Floyd, Programming Pearls, CACM 30(9), 1987.
 */

/**
 * A function that writes k distinct ids below `count` at `at` of `out`, from numbers in [0, 1).
 * Throws RangeError when k is above `count`.
 */
export function createDistinctDraw(count: number, k: number) {
  if (k > count) throw new RangeError(`cannot draw ${k} distinct of ${count}`);
  /** Row in which an id was last drawn, [count]. */
  const drawnIn = new Int32Array(count);
  let row = 0;
  return (uniform: () => number, out: Int32Array, at: number): void => {
    row = (row + 1) | 0;
    for (let i = 0; i < k; i++) {
      const last = count - k + i;
      const drawn = Math.floor(uniform() * (last + 1));
      const id = drawnIn[drawn] === row ? last : drawn;
      drawnIn[id] = row;
      out[at + i] = id;
    }
  };
}
