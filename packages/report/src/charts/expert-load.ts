/**
 * How many choices each expert gets, busiest first.
 * Each layer is sorted by itself and the sorted curves are averaged, so the busiest experts of different layers
 * meet at the left edge instead of cancelling.
 */
import type { Run } from '@epsim/results';
import type { StepRecord } from '@epsim/spec';
import type { ChartMaker, Series } from '../chart-spec.js';
import { layersOfStep, runLine, stepNumbers } from './run-words.js';

export const expertLoad: ChartMaker<Run> = {
  summary: 'choices per expert, busiest first, in the first and the last step',
  file: 'expert-load.png',
  spec(run) {
    const steps = stepNumbers(run);
    if (steps.length === 0) return null;
    const [first, last] = [steps[0], steps[steps.length - 1]];
    const lastLayers = layersOfStep(run, last);
    const expertCount = lastLayers[0].expertLoad.length;
    const xs = Array.from({ length: expertCount }, (_, i) => i + 1);
    const mean =
      lastLayers.reduce((sum, { expertLoadMeasures }) => sum + expertLoadMeasures.mean, 0) /
      lastLayers.length;
    const curve = (name: string, layers: readonly StepRecord[], colour: number): Series => ({
      name,
      mark: 'line',
      colour,
      xs,
      values: sortedMean(layers),
    });
    const layerCount =
      lastLayers.length === 1 ? '1 layer' : `mean over ${lastLayers.length} layers, each sorted by itself`;
    return {
      kind: 'xy',
      title: 'Choices per expert in one step, busiest expert first',
      subtitle: `${runLine(run)} · ${layerCount}`,
      x: { label: 'experts, from the busiest', unit: 'count', min: 1 },
      y: { label: 'choices per expert', unit: 'count', min: 0 },
      series: [
        ...(first === last ? [] : [curve(`step ${first}`, layersOfStep(run, first), 1)]),
        curve(`step ${last}`, lastLayers, 0),
        { name: 'even', mark: 'dashed', colour: 'muted', xs: [1, expertCount], values: [mean, mean] },
      ],
    };
  },
};

/** Mean over layers of the loads of each, sorted from the largest, [expertCount]. */
function sortedMean(layers: readonly StepRecord[]): number[] {
  const sum = new Float64Array(layers[0].expertLoad.length);
  for (const { expertLoad } of layers) {
    const sorted = Float64Array.from(expertLoad).sort().reverse();
    for (let e = 0; e < sum.length; e++) sum[e] += sorted[e] / layers.length;
  }
  return [...sum];
}
