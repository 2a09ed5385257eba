/** The charts of a training study: how a small model learns under each way to balance it. */

import { wideAxis } from '../axes.js';
import type { ChartMaker, ChartSpec, Series } from '../chart-spec.js';

/** Curves of one method, [steps], means over seeds. */
export interface StudyLines {
  readonly method: string;
  readonly loss: readonly number[];
  readonly maxVio: readonly number[];
  readonly starvedExperts: readonly number[];
}

export interface StudySource {
  /** What was trained, in a line. */
  readonly about: string;
  readonly methods: readonly StudyLines[];
}

/** Steps over which a point is the mean, so that batches' noise does not hide the curve. */
const SMOOTHED_STEPS = 10;

export const studyCharts = {
  'study-loss': chart(
    'study-loss.png',
    'Task loss while training, auxiliary loss apart',
    'mean squared error',
    (m) => m.loss,
  ),
  'study-maxvio': chart(
    'study-maxvio.png',
    'Imbalance over experts while training',
    'MaxVio (0 is even)',
    (m) => m.maxVio,
  ),
  'study-starved': chart(
    'study-starved.png',
    'Experts without a token in a step',
    'experts',
    (m) => m.starvedExperts,
  ),
} as const satisfies Record<string, ChartMaker<StudySource>>;

function chart(
  file: `${string}.png`,
  title: string,
  label: string,
  pick: (method: StudyLines) => readonly number[],
): ChartMaker<StudySource> {
  return {
    summary: title,
    file,
    spec({ about, methods }): ChartSpec | null {
      if (methods.length === 0) return null;
      const series = methods.map((method, colour): Series => {
        const { xs, values } = smoothed(pick(method));
        return { name: method.method, mark: 'line', colour, xs, values };
      });
      return {
        kind: 'xy',
        title,
        subtitle: `${about} · mean of ${SMOOTHED_STEPS} steps`,
        x: { label: 'step', unit: 'count' },
        y: wideAxis(label, series),
        series,
      };
    },
  };
}

function smoothed(values: readonly number[]): { xs: number[]; values: number[] } {
  const xs: number[] = [];
  const means: number[] = [];
  for (let from = 0; from < values.length; from += SMOOTHED_STEPS) {
    const part = values.slice(from, from + SMOOTHED_STEPS);
    xs.push(from + (part.length - 1) / 2);
    means.push(part.reduce((a, b) => a + b, 0) / part.length);
  }
  return { xs, values: means };
}
