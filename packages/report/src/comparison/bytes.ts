/** What each row sends, by tier. */
import type { Comparison } from '@epsim/results';
import type { ChartMaker, Series } from '../chart-spec.js';
import { comparisonLine, fieldOf, labelsOf } from './row-words.js';

export const bytes: ChartMaker<Comparison> = {
  summary: 'bytes by tier, by row',
  file: 'compare-bytes.png',
  spec(comparison) {
    const tiers = [
      ['within a domain', 'bytes.scaleUp'],
      ['between domains', 'bytes.scaleOut'],
      ['never left the rank', 'bytes.local'],
    ] as const;
    const fields = tiers.map(([name, path]) => ({ name, field: fieldOf(comparison, path) }));
    return {
      kind: 'xy',
      title: 'Bytes of dispatch and combine over the whole run, by tier',
      subtitle: comparisonLine(comparison),
      x: { label: comparison.vary.join(', '), unit: 'count', labels: labelsOf(comparison) },
      y: { label: 'bytes', unit: 'bytes', min: 0 },
      stacked: true,
      series: fields.flatMap(({ name, field }, i): Series[] =>
        field === null ? [] : [{ name, mark: 'bar', colour: i, values: field.values }],
      ),
    };
  },
};
