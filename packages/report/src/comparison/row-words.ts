/** What comparison charts and tables share: names of rows, the value of a field with its interval and lines. */
import type { Comparison, VariedValues } from '@epsim/results';
import type { Series } from '../chart-spec.js';

/** `quantile`, or `routing.policy=quantile, ranks=64` when several paths vary. */
export function rowName(values: VariedValues): string {
  const entries = Object.entries(values);
  if (entries.length === 1) return String(entries[0][1]);
  return entries.map(([path, value]) => `${path.split('.').at(-1)}=${value}`).join(', ');
}

export function comparisonLine(comparison: Comparison): string {
  const { seeds, vary } = comparison;
  const repeats =
    seeds.length === 1 ? 'one seed, no interval' : `mean of ${seeds.length} seeds, 95 % intervals`;
  return `${comparison.scenario} · same tokens, ${vary.join(' and ')} varied · ${repeats}`;
}

/** Means of `path` by row and the ends of their intervals; null when a row has no such field. */
export function fieldOf(comparison: Comparison, path: string) {
  const values = comparison.rows.map(({ means }) => means[path]);
  if (values.some((value) => value === undefined)) return null;
  const ends = comparison.rows.map(({ ci95 }) => ci95[path] ?? null);
  return {
    values,
    low: ends.map((interval) => interval?.[0] ?? null),
    high: ends.map((interval) => interval?.[1] ?? null),
  };
}

type RowSeries = NonNullable<Comparison['rows'][number]['series']>;

/** A line per row with x from `start`, or null when a row kept no records. */
export function seriesOf(
  comparison: Comparison,
  pick: (series: RowSeries) => readonly number[],
  start: number,
): Series[] | null {
  const lines: Series[] = [];
  for (const [i, row] of comparison.rows.entries()) {
    if (row.series === null) return null;
    const values = pick(row.series);
    lines.push({
      name: rowName(row.values),
      mark: 'line',
      colour: i,
      xs: values.map((_, x) => x + start),
      values,
    });
  }
  return lines;
}

export function labelsOf(comparison: Comparison): string[] {
  return comparison.rows.map((row) => rowName(row.values));
}
