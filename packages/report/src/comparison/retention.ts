/** What each row pays for balance: chosen score mass against imbalance. */
import type { Comparison } from '@epsim/results';
import { wideAxis } from '../axes.js';
import type { ChartMaker } from '../chart-spec.js';
import { comparisonLine, fieldOf, rowName } from './row-words.js';

export const retention: ChartMaker<Comparison> = {
  summary: 'score retention against balance: what each row pays in affinity',
  file: 'compare-retention.png',
  spec(comparison) {
    const balance = fieldOf(comparison, 'load.lastStep.maxVio');
    const kept = fieldOf(comparison, 'routing.scoreRetention');
    if (balance === null || kept === null) return null;
    return {
      kind: 'xy',
      title: 'What balance costs: score retention against MaxVio of the last step',
      subtitle: `${comparisonLine(comparison)} · best is top left`,
      x: wideAxis('MaxVio over experts (0 is even)', [{ values: balance.values }]),
      y: { label: "chosen score mass over plain top-k's", unit: 'ratio' },
      series: comparison.rows.map((row, i) => ({
        name: rowName(row.values),
        mark: 'points',
        colour: i,
        xs: [balance.values[i]],
        values: [kept.values[i]],
        low: [kept.low[i]],
        high: [kept.high[i]],
      })),
    };
  },
};
