/** How balance over experts develops under each row. */
import type { Comparison } from '@epsim/results';
import { wideAxis } from '../axes.js';
import type { ChartMaker } from '../chart-spec.js';
import { comparisonLine, seriesOf } from './row-words.js';

export const maxVio: ChartMaker<Comparison> = {
  summary: 'MaxVio over steps, by row, beside the floor of sampling',
  file: 'compare-maxvio.png',
  spec(comparison) {
    const series = seriesOf(comparison, (row) => row.maxVio, 0);
    const floor = comparison.rows[0].series?.maxVioFloor;
    if (series === null || floor === undefined || floor.length < 2) return null;
    return {
      kind: 'xy',
      title: 'Imbalance over experts by step: MaxVio = (max - mean) / mean',
      subtitle: comparisonLine(comparison),
      x: { label: 'step', unit: 'count' },
      y: wideAxis('MaxVio (0 is even)', [...series, { values: floor }]),
      series: [
        ...series,
        {
          name: 'floor of sampling',
          mark: 'dashed',
          colour: 'muted',
          xs: floor.map((_, i) => i),
          values: floor,
        },
      ],
    };
  },
};
