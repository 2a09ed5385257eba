/**
 * How close the time model comes to published measurements: a point per row, a colour per table.
 * On the dashed line a prediction is right; both axes are logarithmic, so equal errors look equal everywhere.
 */
import type { ChartMaker } from '../chart-spec.js';
import { formatValue } from '../page/format.js';

/** One scored table: its rows, and the median error that is printed for it. */
export interface ScoredTable {
  readonly name: string;
  readonly rows: readonly { readonly measuredNs: number; readonly predictedNs: number }[];
  /** As a fraction of the measured value. */
  readonly medianError: number;
}

export const predictedMeasured: ChartMaker<readonly ScoredTable[]> = {
  summary: 'predicted against measured time, a point per published row',
  file: 'predicted-measured.png',
  spec(tables) {
    const filled = tables.filter(({ rows }) => rows.length > 0);
    const times = filled.flatMap(({ rows }) => rows.flatMap((row) => [row.measuredNs, row.predictedNs]));
    if (times.length === 0) return null;
    const least = times.reduce((a, b) => Math.min(a, b));
    const most = times.reduce((a, b) => Math.max(a, b));
    return {
      kind: 'xy',
      title: 'Predicted against measured time',
      subtitle: `${times.length / 2} published rows of ${filled.length} tables, with the median error of each`,
      x: { label: 'measured, logarithmic', unit: 'ns', log: true },
      y: { label: 'predicted, logarithmic', unit: 'ns', log: true },
      series: [
        ...filled.map(({ name, rows, medianError }, i) => ({
          name: `${name} (${formatValue(medianError, 'fraction')})`,
          mark: 'points' as const,
          colour: i,
          xs: rows.map((row) => row.measuredNs),
          values: rows.map((row) => row.predictedNs),
        })),
        { name: 'right', mark: 'dashed', colour: 'muted', xs: [least, most], values: [least, most] },
      ],
    };
  },
};
