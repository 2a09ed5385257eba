/**
 * Parameters of a model as its makers publish them, and which parts of the model such a figure holds.
 * The one idea: makers count differently, so a figure says what it holds and only then can be compared.
 * Counts nothing itself: `countedParameters` of the model package does.
 */

/**
 * `layers` is all between the two tables of the vocabulary; `prediction` the extra prediction layers. In an active
 * count `layers` are those that one text token multiplies with, and a table counts in full.
 */
export type CountedPart = 'layers' | 'embedding' | 'head' | 'prediction' | 'vision';

export interface PublishedCount {
  /** As published, with its digits and unit: "37 B", "1.6 T". */
  readonly figure: string;
  /** What it holds. Where the makers do not say, the parts that give their figure. */
  readonly holds: readonly CountedPart[];
  /** True when the makers cut digits off instead of rounding. */
  readonly cut?: boolean;
}

export interface PublishedCounts {
  readonly total: PublishedCount;
  readonly active: PublishedCount;
  /** Where and when the figures were published. */
  readonly source: string;
}

/** The language model, and what one text token multiplies with: the commonest way to count. */
export const WHOLE = ['layers', 'embedding', 'head'] as const;
export const MULTIPLIED = ['layers', 'head'] as const;

/** Least and most parameters that a published figure stands for: within 1 %, or what its digits leave open. */
export function publishedRange({ figure, cut = false }: PublishedCount): readonly [number, number] {
  const match = /^(\d+)(?:\.(\d+))? ([BT])$/.exec(figure);
  if (match === null)
    throw new RangeError(`publishedRange: ${figure}; a count is written as "37 B" or "1.6 T"`);
  const unit = match[3] === 'T' ? 1e12 : 1e9;
  const value = Number.parseFloat(figure) * unit;
  const digit = unit / 10 ** (match[2]?.length ?? 0);
  const below = cut ? 0 : digit / 2;
  const above = cut ? digit : digit / 2;
  return [value - Math.max(below, value / 100), value + Math.max(above, value / 100)];
}
