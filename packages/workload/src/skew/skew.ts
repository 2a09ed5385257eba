/**
 * What a skew decides: how popularity is spread over the experts of one layer, most popular first.
 * Which expert has which place in that order is decided elsewhere, so that layers can differ and drift.
 */
import type { RandomSource } from '@epsim/spec';
import type { z } from 'zod';

/** Popularity by place, [expertCount], descending. */
export type Popularity =
  /** Added to the router scores as they are, in units of the noise's standard deviation. */
  | { readonly kind: 'offsets'; readonly values: Float64Array }
  /**
   * Shares of the choices, in any unit; scores are solved so that top-k realises them. `orderTry` names the order
   * of the experts that the skew chose, when it chose one; `fitted` says what was solved for.
   */
  | {
      readonly kind: 'loads';
      readonly values: Float64Array;
      readonly orderTry?: number;
      readonly fitted?: string;
    };

/** One layer as a skew sees it. */
export interface SkewSite {
  readonly expertCount: number;
  readonly topK: number;
  readonly rankCount: number;
  readonly tokensPerRank: number;
  /** A stream of its own for each layer. */
  readonly random: RandomSource;
  /** Place of each expert in one of the possible orders of popularity at step 0, [expertCount]. */
  placesOf(orderTry: number): Int32Array;
}

export interface Skew {
  readonly summary: string;
  /** Strict, with `kind` a literal of the skew's own name in the registry. */
  readonly options: z.ZodObject;
  /** `options` are those that the schema returned. Throws RangeError when they cannot be met. */
  popularity(site: SkewSite, options: Readonly<Record<string, unknown>>): Popularity;
  /** One sentence, the parameters included. */
  describe(options: Readonly<Record<string, unknown>>): string;
}

/** A skew from a schema and functions that see its output type. */
export function defineSkew<S extends z.ZodObject>(skew: {
  readonly summary: string;
  readonly options: S;
  popularity(site: SkewSite, options: z.output<S>): Popularity;
  describe(options: z.output<S>): string;
}): Skew & { readonly options: S } {
  return {
    summary: skew.summary,
    options: skew.options,
    popularity: (site, options) => skew.popularity(site, skew.options.parse(options)),
    describe: (options) => skew.describe(skew.options.parse(options)),
  };
}

/** `values` in descending order, in place. */
export function descending(values: Float64Array): Float64Array {
  return values.sort().reverse();
}
