/**
 * Where a number comes from. Times never travel without it.
 */

export type Provenance =
  /** A wall clock on this machine. */
  | 'measured'
  /** A model whose parameters were fitted to published measurements. */
  | 'fitted'
  /** Arithmetic on vendor figures. */
  | 'derived';

export interface Estimate {
  readonly ns: number;
  readonly provenance: Provenance;
  /** One line that names the model and its data. */
  readonly source: string;
  /** Half-width of the error as a fraction of `ns`; null when nobody has measured it. */
  readonly relErrorBar: number | null;
}
