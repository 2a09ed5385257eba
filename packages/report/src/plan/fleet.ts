/** How many accelerators the best layout needs as the rate grows. */
import type { ChartMaker } from '../chart-spec.js';
import type { PlanSource } from './plan-source.js';

export const fleet: ChartMaker<PlanSource> = {
  summary: 'accelerators needed against the request rate',
  file: 'fleet.png',
  spec({ about, fleet: points }) {
    if (points === undefined || points.length === 0) return null;
    return {
      kind: 'xy',
      title: 'Accelerators of the best layout, by request rate',
      subtitle: `${about} · another layout may need fewer at another rate`,
      x: { label: 'requests/s', unit: 'count', min: 0 },
      y: { label: 'accelerators', unit: 'count', min: 0 },
      series: [
        {
          name: 'best layout',
          mark: 'steps',
          colour: 0,
          xs: points.map(({ requestsPerSec }) => requestsPerSec),
          values: points.map(({ rankCount }) => rankCount),
        },
      ],
    };
  },
};
