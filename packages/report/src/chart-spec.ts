/**
 * What a chart shows, as plain data: series, axes with units, words. No colours, fonts or callbacks.
 * One idea: the same description is drawn to a PNG by Node and to a canvas by the page, in either theme,
 * so the two cannot tell different stories.
 */
import type { Unit } from './page/format.js';

export interface Axis {
  readonly label: string;
  readonly unit: Unit;
  readonly log?: boolean;
  readonly min?: number;
  readonly max?: number;
}

export interface Series {
  readonly name: string;
  /** `steps`: a line that keeps each value from the point before it on. */
  readonly mark: 'bar' | 'line' | 'steps' | 'dashed' | 'points';
  /** Index into the theme's series colours; `muted` for reference lines, `text` for what stands on top of the others. */
  readonly colour: number | 'muted' | 'text';
  /** One per label of the x axis, or per entry of `xs`. */
  readonly values: readonly (number | null)[];
  /** Positions on a numeric x axis. */
  readonly xs?: readonly number[];
  /** Ends of an interval around each value: 95 % intervals or the range over layers. */
  readonly low?: readonly (number | null)[];
  readonly high?: readonly (number | null)[];
}

/** Lines, bars and points over one x axis: named when it has `labels`, numeric when series have `xs`. */
export interface XySpec {
  readonly kind: 'xy';
  readonly title: string;
  readonly subtitle: string;
  readonly x: Axis & { readonly labels?: readonly string[] };
  readonly y: Axis;
  readonly series: readonly Series[];
  readonly stacked?: boolean;
  /** Bars lie down: the labels of `x` run along the vertical side. */
  readonly horizontal?: boolean;
}

/** A square of coloured cells, rows from the top. */
export interface HeatSpec {
  readonly kind: 'heat';
  readonly title: string;
  readonly subtitle: string;
  readonly x: { readonly label: string };
  readonly y: { readonly label: string };
  readonly unit: Unit;
  /** Cells a side. */
  readonly size: number;
  /** What one cell steps over on the axes: 1 rank, or a group of ranks. */
  readonly step: number;
  /** Row-major [size x size]. */
  readonly values: readonly number[];
}

export type ChartSpec = XySpec | HeatSpec;

/** A chart that can be drawn of `T`: null when `T` does not hold what it shows. */
export interface ChartMaker<T> {
  readonly summary: string;
  readonly file: `${string}.png`;
  spec(source: T): ChartSpec | null;
}
