/**
 * How many choices each rank computes: in the layer where it is least even, and on average.
 * The bars are one real layer, because everybody waits for its busiest rank; an average over layers would hide it.
 */
import type { Run } from '@epsim/results';
import type { StepRecord } from '@epsim/spec';
import type { ChartMaker } from '../chart-spec.js';
import { formatValue } from '../page/format.js';
import { runLine } from './run-words.js';

export const rankLoad: ChartMaker<Run> = {
  summary: 'choices per rank in the least even layer, with the mean over all layers and steps',
  file: 'rank-load.png',
  spec(run) {
    if (run.records.length === 0) return null;
    const worst = run.records.reduce((a, b) => (imbalance(b) > imbalance(a) ? b : a));
    const ranks = worst.rankLoad.length;
    const means = Array.from({ length: ranks }, (_, r) =>
      run.records.reduce((sum, { rankLoad }) => sum + rankLoad[r] / run.records.length, 0),
    );
    const { mean } = worst.rankLoadMeasures;
    const meanImbalance =
      run.records.reduce((sum, record) => sum + imbalance(record), 0) / run.records.length;
    return {
      kind: 'xy',
      title: `Choices per rank, least even layer (step ${worst.step}, layer ${worst.layer})`,
      subtitle: `${runLine(run)} · max/mean over ranks: ${formatValue(imbalance(worst), 'ratio')} here, ${formatValue(meanImbalance, 'ratio')} mean over layers and steps`,
      x: { label: 'rank', unit: 'count', labels: Array.from({ length: ranks }, (_, r) => String(r)) },
      y: { label: 'choices', unit: 'count', min: 0 },
      series: [
        { name: 'this layer', mark: 'bar', colour: 5, values: worst.rankLoad },
        ...(run.records.length > 1
          ? [
              {
                name: 'mean over layers and steps',
                mark: 'points' as const,
                colour: 'text' as const,
                values: means,
              },
            ]
          : []),
        { name: 'even', mark: 'dashed', colour: 'muted', values: Array<number>(ranks).fill(mean) },
      ],
    };
  },
};

function imbalance(record: StepRecord): number {
  return record.rankLoadMeasures.maxOverMean;
}
