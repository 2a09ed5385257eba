/** The charts of a capacity plan. A new one is a file and a line here; the conformance suite draws every entry. */
import type { ChartMaker } from '../chart-spec.js';
import { fleet } from './fleet.js';
import { frontier } from './frontier.js';
import { memory } from './memory.js';
import type { PlanSource } from './plan-source.js';
import { stepBreakdown } from './step-breakdown.js';

export const planCharts = {
  frontier,
  memory,
  'step-breakdown': stepBreakdown,
  fleet,
} as const satisfies Record<string, ChartMaker<PlanSource>>;
