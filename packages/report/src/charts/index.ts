/** The charts of a run. A new one is a file and a line here; the conformance suite draws every entry. */
import type { Run } from '@epsim/results';
import type { ChartMaker } from '../chart-spec.js';
import { expertLoad } from './expert-load.js';
import { linkUse } from './link-use.js';
import { maxVioSteps } from './maxvio-steps.js';
import { phases } from './phases.js';
import { rankLoad } from './rank-load.js';
import { rankTraffic } from './rank-traffic.js';

export const charts = {
  'expert-load': expertLoad,
  'maxvio-steps': maxVioSteps,
  'rank-load': rankLoad,
  'rank-traffic': rankTraffic,
  'link-use': linkUse,
  phases,
} as const satisfies Record<string, ChartMaker<Run>>;
