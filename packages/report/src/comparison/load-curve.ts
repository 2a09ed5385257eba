/** Where load falls under each row: a line per row, on the same tokens. */
import type { Comparison } from '@epsim/results';
import type { ChartMaker } from '../chart-spec.js';
import { comparisonLine, seriesOf } from './row-words.js';

export const loadCurve: ChartMaker<Comparison> = {
  summary: 'choices per expert, busiest first, by row',
  file: 'compare-load.png',
  spec(comparison) {
    const series = seriesOf(comparison, ({ loadCurve }) => loadCurve, 1);
    if (series === null) return null;
    const curve = series[0].values;
    const mean = curve.reduce<number>((sum, choices) => sum + (choices ?? 0) / curve.length, 0);
    return {
      kind: 'xy',
      title: 'Choices per expert in the last step, busiest expert first',
      subtitle: comparisonLine(comparison),
      x: { label: 'experts, from the busiest', unit: 'count', min: 1 },
      y: { label: 'choices per expert', unit: 'count', min: 0 },
      series: [
        ...series,
        { name: 'even', mark: 'dashed', colour: 'muted', xs: [1, curve.length], values: [mean, mean] },
      ],
    };
  },
};
