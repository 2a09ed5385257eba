/**
 * How the balance over experts develops from step to step, beside the floor that sampling alone sets.
 */
import { type Run, recordsBySteps, stepCurves } from '@epsim/results';
import type { StepRecord } from '@epsim/spec';
import { wideAxis } from '../axes.js';
import type { ChartMaker, Series } from '../chart-spec.js';
import { runLine } from './run-words.js';

export const maxVioSteps: ChartMaker<Run> = {
  summary: 'MaxVio over steps beside the floor of perfectly balanced random routing',
  file: 'maxvio-steps.png',
  spec(run) {
    const layers = recordsBySteps(run.records);
    if (layers.length < 2) return null;
    const steps = layers.map(([record]) => record.step);
    const curves = stepCurves(run.records);
    const line = (name: string, colour: number, values: readonly number[]): Series => ({
      name,
      mark: 'line',
      colour,
      xs: steps,
      values,
    });
    const worst = layers.map((records) =>
      Math.max(...records.map((record) => record.expertLoadMeasures.maxMinusMeanOverMean)),
    );
    const floor: Series = {
      name: 'floor of sampling',
      mark: 'dashed',
      colour: 'muted',
      xs: steps,
      values: curves.maxVioFloor,
    };
    const several = layers[0].length > 1;
    const series = [
      line(several ? 'mean over layers' : 'MaxVio', 0, curves.maxVio),
      ...(several ? [line('worst layer', 1, worst)] : []),
      ...baselineSeries(layers, steps),
      floor,
    ];
    return {
      kind: 'xy',
      title: 'Imbalance over experts by step: MaxVio = (max - mean) / mean',
      subtitle: runLine(run),
      x: { label: 'step', unit: 'count' },
      y: wideAxis('MaxVio (0 is even)', series),
      series,
    };
  },
};

/** The same tokens under the baseline policy, mean over layers; nothing when the run has none. */
function baselineSeries(layers: readonly (readonly StepRecord[])[], xs: readonly number[]): Series[] {
  const policy = layers[0][0].baseline?.policy;
  if (policy === undefined) return [];
  const vio = ({ baseline }: StepRecord) => baseline?.expertLoadMeasures.maxMinusMeanOverMean ?? 0;
  const values = layers.map((records) => mean(records.map(vio)));
  return [{ name: `${policy} on the same tokens`, mark: 'line', colour: 2, xs, values }];
}

function mean(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0) / values.length;
}
