/** Where the time of a step goes under each layout. */
import type { ChartMaker } from '../chart-spec.js';
import type { PlanSource } from './plan-source.js';

export const stepBreakdown: ChartMaker<PlanSource> = {
  summary: 'time of a step by phase, per layout, with the source of each phase',
  file: 'step-breakdown.png',
  spec({ about, steps }) {
    if (steps === undefined || steps.length === 0) return null;
    const names = [...new Set(steps.flatMap(({ phases }) => Object.keys(phases)))];
    return {
      kind: 'xy',
      title: 'Predicted time of a step by phase, as if nothing overlapped',
      subtitle: about,
      x: { label: 'layout', unit: 'count', labels: steps.map(({ label }) => label) },
      y: { label: 'time', unit: 'ns', min: 0 },
      stacked: true,
      horizontal: true,
      series: names.map((name, i) => {
        const sources = new Set(steps.flatMap(({ phases }) => phases[name]?.provenance ?? []));
        return {
          name: `${name} (${[...sources].join(', ')})`,
          mark: 'bar',
          colour: i,
          values: steps.map(({ phases }) => phases[name]?.ns ?? 0),
        };
      }),
    };
  },
};
