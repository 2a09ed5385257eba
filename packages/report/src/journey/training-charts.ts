/** The charts of a short training run: loss and balance by step, one line per run, titles that say what came out. */
import { wideAxis } from '../axes.js';
import type { ChartMaker, ChartSpec, Series } from '../chart-spec.js';
import type { TrainingPart } from './trace.js';

type Measure = 'loss' | 'maxVio';

function chart(training: TrainingPart, key: Measure, title: string, label: string): ChartSpec {
  const steps = training.runs[0].loss.map((_, step) => step);
  const series = training.runs.map(
    (run, colour): Series => ({ name: run.name, mark: 'line', colour, xs: steps, values: run[key] }),
  );
  return {
    kind: 'xy',
    title,
    subtitle: `${steps.length} steps of ${training.tokensPerStep} tokens, same start and same batches, ${training.model}, seed ${training.seed}`,
    x: { label: 'step', unit: 'count' },
    y: wideAxis(label, series),
    series,
  };
}

/** "lowest 1.42 (no balancing), highest 1.74 (...)", at the last step. */
function ends(training: TrainingPart, key: Measure): string {
  const last = training.runs
    .map((run) => ({ name: run.name, value: run[key][run[key].length - 1] }))
    .sort((a, b) => a.value - b.value);
  const [low, high] = [last[0], last[last.length - 1]];
  return `lowest ${low.value.toFixed(2)} (${low.name}), highest ${high.value.toFixed(2)} (${high.name})`;
}

export const trainingCharts = {
  'training-loss': {
    summary: 'loss of each short run by step',
    file: 'training-loss.png',
    spec: (training) =>
      chart(training, 'loss', `Loss by step: ${ends(training, 'loss')}`, 'loss, nats a token'),
  },
  'training-maxvio': {
    summary: 'MaxVio of each short run by step',
    file: 'training-maxvio.png',
    spec: (training) =>
      chart(training, 'maxVio', `MaxVio by step: ${ends(training, 'maxVio')}`, 'MaxVio (0 is even)'),
  },
} as const satisfies Record<string, ChartMaker<TrainingPart>>;
