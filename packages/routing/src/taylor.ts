/**
 * A smooth function of one variable as a table of quadratic Taylor pieces: one load, two multiplies, no division.
 * With 128 pieces per unit the remainder is below |f'''| x 1e-8, less than half a step of float32 near 1.
 * Does not know what it tabulates.
 */

const PIECES_PER_UNIT = 128;

export interface TaylorTable {
  readonly low: number;
  readonly high: number;
  /** f, f' and f''/2 at low + i / 128, [pieces x 3]. */
  readonly coefficients: Float64Array;
}

/** Tabulates f on [low, high] from f and its first two derivatives. */
export function taylorTable(
  low: number,
  high: number,
  derivatives: (x: number) => readonly [f: number, first: number, second: number],
): TaylorTable {
  const pieces = (high - low) * PIECES_PER_UNIT + 1;
  const coefficients = new Float64Array(pieces * 3);
  for (let i = 0; i < pieces; i++) {
    const [f, first, second] = derivatives(low + i / PIECES_PER_UNIT);
    coefficients[i * 3] = f;
    coefficients[i * 3 + 1] = first;
    coefficients[i * 3 + 2] = second / 2;
  }
  return { low, high, coefficients };
}

/**
 * Replaces values[from .. to) by f of each, where it lies in the table; `outside` gives the rest (NaN included).
 */
export function applyTable(
  table: TaylorTable,
  values: Float32Array,
  from: number,
  to: number,
  outside: (x: number) => number,
): void {
  const { low, high, coefficients } = table;
  for (let i = from; i < to; i++) {
    const x = values[i];
    if (x >= low && x <= high) {
      const scaled = (x - low) * PIECES_PER_UNIT;
      const piece = (scaled + 0.5) | 0;
      const h = (scaled - piece) / PIECES_PER_UNIT;
      const at = piece * 3;
      values[i] = coefficients[at] + h * (coefficients[at + 1] + h * coefficients[at + 2]);
    } else {
      values[i] = outside(x);
    }
  }
}
