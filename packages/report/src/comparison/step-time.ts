/** What each row takes: step time with its interval. */
import type { Comparison } from '@epsim/results';
import type { ChartMaker } from '../chart-spec.js';
import { comparisonLine, fieldOf, labelsOf } from './row-words.js';

export const stepTime: ChartMaker<Comparison> = {
  summary: 'predicted step time with 95 % intervals, by row',
  file: 'compare-step-time.png',
  spec(comparison) {
    const field = fieldOf(comparison, 'timed.stepNs');
    if (field === null) return null;
    return {
      kind: 'xy',
      title: 'Predicted time of a step, simulated layers',
      subtitle: comparisonLine(comparison),
      x: { label: comparison.vary.join(', '), unit: 'count', labels: labelsOf(comparison) },
      y: { label: 'time', unit: 'ns', min: 0 },
      series: [{ name: 'step time', mark: 'bar', colour: 5, ...field }],
    };
  },
};
