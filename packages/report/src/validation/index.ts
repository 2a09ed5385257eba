/** The charts of a validation. A new one is a file and a line here. */
import type { ChartMaker } from '../chart-spec.js';
import { predictedMeasured, type ScoredTable } from './predicted-measured.js';

export const validationCharts = {
  'predicted-measured': predictedMeasured,
} as const satisfies Record<string, ChartMaker<readonly ScoredTable[]>>;
