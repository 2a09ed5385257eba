/** Records to the few curves that charts and comparisons draw. */
import type { StepRecord } from '@epsim/spec';

/**
 * Choices per expert from the busiest, [expertCount]: each layer is sorted by itself and the sorted curves are averaged,
 * so that the busiest experts of different layers meet at the left instead of cancelling.
 * Throws RangeError without records.
 */
export function sortedLoadCurve(layers: readonly StepRecord[]): number[] {
  if (layers.length === 0) throw new RangeError('layers has shape [0]; at least one record is needed');
  const sum = new Float64Array(layers[0].expertLoad.length);
  for (const { expertLoad } of layers) {
    const sorted = Float64Array.from(expertLoad).sort().reverse();
    for (let e = 0; e < sum.length; e++) sum[e] += sorted[e];
  }
  return Array.from(sum, (choices) => choices / layers.length);
}

/** Records by step, steps ascending and layers ascending within each. */
export function recordsBySteps(records: readonly StepRecord[]): StepRecord[][] {
  const bySteps = new Map<number, StepRecord[]>();
  for (const record of records) {
    const step = bySteps.get(record.step);
    if (step === undefined) bySteps.set(record.step, [record]);
    else step.push(record);
  }
  return [...bySteps].sort(([a], [b]) => a - b).map(([, step]) => step.sort((a, b) => a.layer - b.layer));
}

/** One entry per step, the mean over the step's layers. */
export interface StepCurves {
  readonly maxVio: readonly number[];
  readonly maxVioFloor: readonly number[];
  readonly rankMaxOverMean: readonly number[];
}

export function stepCurves(records: readonly StepRecord[]): StepCurves {
  const steps = recordsBySteps(records);
  const curve = (pick: (record: StepRecord) => number) =>
    steps.map((step) => step.reduce((sum, record) => sum + pick(record), 0) / step.length);
  return {
    maxVio: curve((record) => record.expertLoadMeasures.maxMinusMeanOverMean),
    maxVioFloor: curve((record) => record.maxVioFloor),
    rankMaxOverMean: curve((record) => record.rankLoadMeasures.maxOverMean),
  };
}
