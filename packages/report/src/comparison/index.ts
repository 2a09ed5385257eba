/** The charts of a comparison. A new one is a file and a line here; the conformance suite draws every entry. */
import type { Comparison } from '@epsim/results';
import type { ChartMaker } from '../chart-spec.js';
import { bytes } from './bytes.js';
import { loadCurve } from './load-curve.js';
import { maxVio } from './maxvio-steps.js';
import { retention } from './retention.js';
import { stepTime } from './step-time.js';

export const comparisonCharts = {
  'compare-load': loadCurve,
  'compare-maxvio': maxVio,
  'compare-retention': retention,
  'compare-bytes': bytes,
  'compare-step-time': stepTime,
} as const satisfies Record<string, ChartMaker<Comparison>>;
