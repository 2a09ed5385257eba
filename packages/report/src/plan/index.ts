/** The charts of a capacity plan. A new one is a file and a line here; the conformance suite draws every entry. */
import type { ChartMaker } from '../chart-spec.js';
import { type FrontierSource, frontier } from './frontier.js';

export const planCharts = { frontier } as const satisfies Record<string, ChartMaker<FrontierSource>>;
