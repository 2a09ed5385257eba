/**
 * How many choices each expert gets, busiest first.
 */
import { type Run, recordsBySteps, sortedLoadCurve } from '@epsim/results';
import type { StepRecord } from '@epsim/spec';
import type { ChartMaker, Series } from '../chart-spec.js';
import { runLine } from './run-words.js';

export const expertLoad: ChartMaker<Run> = {
  summary: 'choices per expert, busiest first, in the first and the last step',
  file: 'expert-load.png',
  spec(run) {
    const steps = recordsBySteps(run.records);
    if (steps.length === 0) return null;
    const [first, last] = [steps[0], steps[steps.length - 1]];
    const { length: layerCount } = last;
    const expertCount = last[0].expertLoad.length;
    const xs = Array.from({ length: expertCount }, (_, i) => i + 1);
    const mean = last.reduce((sum, { expertLoadMeasures }) => sum + expertLoadMeasures.mean / layerCount, 0);
    const curve = (layers: readonly StepRecord[], colour: number): Series => ({
      name: `step ${layers[0].step}`,
      mark: 'line',
      colour,
      xs,
      values: sortedLoadCurve(layers),
    });
    const scope = layerCount === 1 ? '1 layer' : `mean over ${layerCount} layers, each sorted by itself`;
    return {
      kind: 'xy',
      title: 'Choices per expert in one step, busiest expert first',
      subtitle: `${runLine(run)} · ${scope}`,
      x: { label: 'experts, from the busiest', unit: 'count', min: 1 },
      y: { label: 'choices per expert', unit: 'count', min: 0 },
      series: [
        ...(first === last ? [] : [curve(first, 1)]),
        curve(last, 0),
        { name: 'even', mark: 'dashed', colour: 'muted', xs: [1, expertCount], values: [mean, mean] },
      ],
    };
  },
};
