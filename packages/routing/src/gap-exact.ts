/**
 * The exact quantile of the gaps, however many tokens there are: a radix search over the bits of float32.
 * Three passes fix 11, 11 and 10 bits of each expert's answer; memory is one histogram of 2048 per expert.
 */
import type { QuantileEstimator } from './quantile-estimator.js';

const SHIFTS = [21, 10, 0];
const BITS = [11, 11, 10];
const BIN_COUNT = 2048;
const LAST = 2;

/**
 * The quantile at `fraction` of a list, linear between neighbours at position fraction x (length - 1).
 * With m tokens and m x fraction whole, it lies between the two gaps that admit exactly m x fraction tokens.
 * The form to read: sort everything. Throws RangeError when the list is empty.
 */
export function quantileNaive(values: readonly number[], fraction: number): number {
  if (values.length === 0) throw new RangeError('the quantile of no values');
  const sorted = [...values].sort((a, b) => a - b);
  const position = fraction * (sorted.length - 1);
  const below = Math.floor(position);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
}

/**
 * An estimator that equals `quantileNaive` of the gaps rounded to float32, in three passes.
 * Its one large array is in memory that `allocate` gives.
 */
export function createExactGaps(
  expertCount: number,
  fraction: number,
  allocate: (size: number) => Int32Array = (size) => new Int32Array(size),
): QuantileEstimator {
  const search: Search = {
    counts: allocate(expertCount * BIN_COUNT),
    prefix: new Uint32Array(expertCount),
    place: new Int32Array(expertCount),
    nextKey: new Uint32Array(expertCount),
  };
  const { counts, prefix, place, nextKey } = search;
  const gaps = new Float32Array(expertCount);
  const keys = new Uint32Array(gaps.buffer);
  let pass = 0;
  let tokens = 0;

  return {
    begin() {
      pass = 0;
      tokens = 0;
      counts.fill(0);
      prefix.fill(0);
      nextKey.fill(0xffffffff);
    },
    add(scores, offset, cutoff) {
      if (pass === 0) tokens++;
      const shift = SHIFTS[pass];
      const mask = (1 << BITS[pass]) - 1;
      for (let expert = 0; expert < expertCount; expert++) gaps[expert] = cutoff - scores[offset + expert];
      for (let expert = 0; expert < expertCount; expert++) {
        const key = orderedKey(keys[expert]);
        const lead = pass === 0 ? 0 : key >>> SHIFTS[pass - 1];
        if (lead === prefix[expert]) counts[expert * BIN_COUNT + ((key >>> shift) & mask)]++;
        else if (pass === LAST && lead > prefix[expert] && key < nextKey[expert]) nextKey[expert] = key;
      }
    },
    endPass(out) {
      const position = fraction * (tokens - 1);
      if (pass === 0) place.fill(Math.floor(position));
      for (let expert = 0; expert < expertCount; expert++) {
        narrow(search, expert, BITS[pass]);
        if (pass === LAST) out[expert] = valueAt(search, expert, position - Math.floor(position));
      }
      pass++;
      if (pass > LAST) return true;
      counts.fill(0);
      return false;
    },
  };
}

/** What is known of each expert's answer. */
interface Search {
  /** Gaps that share the prefix, by their next bits, [expertCount x BIN_COUNT]. */
  readonly counts: Int32Array;
  /** Leading bits of the answer, [expertCount]. */
  readonly prefix: Uint32Array;
  /** Place of the answer among the gaps that share the prefix, [expertCount]. */
  readonly place: Int32Array;
  /** Smallest key whose leading 22 bits are above the answer's, [expertCount]. */
  readonly nextKey: Uint32Array;
}

/** Appends to an expert's prefix the `bits` of the bin that holds its place. */
function narrow({ counts, prefix, place }: Search, expert: number, bits: number): void {
  const row = expert * BIN_COUNT;
  let bin = 0;
  while (place[expert] >= counts[row + bin]) place[expert] -= counts[row + bin++];
  prefix[expert] = (prefix[expert] << bits) | bin;
}

/** After the last pass: the gap at an expert's place, and `part` of the way to the next one. */
function valueAt({ counts, prefix, place, nextKey }: Search, expert: number, part: number): number {
  const key = prefix[expert];
  const value = floatOf(key);
  const bin = key & ((1 << BITS[LAST]) - 1);
  const row = expert * BIN_COUNT;
  if (part === 0 || place[expert] + 1 < counts[row + bin]) return value;
  return value + part * (floatOf(keyAfter(counts, row, bin, key, nextKey[expert])) - value);
}

/** The smallest key above `key`, which lies in `bin`: in a later bin that has counts, else `beyond`. */
function keyAfter(counts: Int32Array, row: number, bin: number, key: number, beyond: number): number {
  for (let later = bin + 1; later < 1 << BITS[LAST]; later++) {
    if (counts[row + later] > 0) return key - bin + later;
  }
  return beyond;
}

/** The bits of a float32 as an unsigned integer in the order of the numbers. */
function orderedKey(bits: number): number {
  return (bits & 0x80000000 ? ~bits : bits | 0x80000000) >>> 0;
}

const word = new Uint32Array(1);
const float = new Float32Array(word.buffer);

function floatOf(key: number): number {
  word[0] = key & 0x80000000 ? key ^ 0x80000000 : ~key;
  return float[0];
}
