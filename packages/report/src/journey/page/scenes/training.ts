/** Scene: a short training run, balanced and per head beside the plain forms. Absent where none was made. */
import type { TrainingPart } from '../../trace.js';
import { heading, lineTo, type Pen, part, words } from '../pen.js';
import { type Beat, type Scene, WIDE } from '../scene.js';

const PLOT = 190;

/** What the scene's pictures and words are made from, computed once. */
function trainingView(training: TrainingPart) {
  const { runs } = training;
  const steps = runs[0].loss.length;
  const colourOf = (pen: Pen, i: number) => [pen.colours.mini, pen.colours.good, pen.colours.glow][i % 3];
  const said = (key: 'loss' | 'maxVio') =>
    runs.map((run) => `${run.name} ${run[key][0].toFixed(2)} → ${run[key][steps - 1].toFixed(2)}`).join('; ');
  const lowest = (key: 'loss' | 'maxVio') =>
    [...runs].sort((a, b) => a[key][steps - 1] - b[key][steps - 1])[0].name;
  return { runs, steps, colourOf, said, lowest };
}

type TrainingView = ReturnType<typeof trainingView>;

function drawPlot(
  view: TrainingView,
  pen: Pen,
  at: { readonly x: number; readonly y: number; readonly w: number },
  name: string,
  key: 'loss' | 'maxVio',
  f: number,
) {
  const { runs, steps, colourOf } = view;
  const most = Math.max(...runs.flatMap((run) => run[key]));
  const px = (step: number) => at.x + 26 + (step * (at.w - 36)) / Math.max(1, steps - 1);
  const py = (value: number) => at.y + 24 + PLOT - (PLOT * value) / most;
  heading(pen, at.x, at.y + 12, name);
  for (let mark = 0; mark <= most; mark += most > 6 ? 2 : 1) {
    lineTo(pen, at.x + 22, py(mark), at.x + at.w, py(mark), pen.colours.line);
    words(pen, at.x + 16, py(mark) + 4, String(mark), {
      size: 11,
      align: 'right',
      colour: pen.colours.muted,
    });
  }
  runs.forEach((run, i) => {
    for (let step = 0; step + 1 < steps; step++) {
      const reached = part(f * (steps - 1) - step);
      if (reached === 0) break;
      const [a, b] = [run[key][step], run[key][step + 1]];
      lineTo(pen, px(step), py(a), px(step + reached), py(a + (b - a) * reached), colourOf(pen, i), {
        thick: 2.5,
      });
    }
  });
  words(pen, at.x + at.w, at.y + 24 + PLOT + 16, `step ${steps - 1}`, {
    size: 11,
    align: 'right',
    colour: pen.colours.muted,
  });
}

function trainingBeats(view: TrainingView): Beat[] {
  const { said, lowest } = view;
  return [
    { caption: `Loss in nats a token: ${said('loss')}. Lowest at the end: ${lowest('loss')}.`, seconds: 6 },
    {
      caption: `MaxVio, mean over expert layers: ${said('maxVio')}. Most even at the end: ${lowest('maxVio')}.`,
      seconds: 5,
    },
  ];
}

export function trainingScene(training: TrainingPart): Scene {
  const view = trainingView(training);
  const { runs, colourOf } = view;
  return {
    id: 'training',
    title: 'A short training run',
    story:
      'The same miniature, trained for a few steps from the same start and on the same batches. The runs differ in one thing each. A dozen steps say that the parts work together; they do not say which would win in the end.',
    sources: ['training'],
    fullSize: [],
    beats: trainingBeats(view),
    height: (width) => (width >= WIDE ? PLOT + 60 : 2 * (PLOT + 60)) + runs.length * 20,
    draw(pen, beat, f) {
      const w = pen.wide ? pen.width / 2 - 20 : pen.width;
      drawPlot(view, pen, { x: 0, y: 0, w }, 'loss, nats a token', 'loss', beat === 0 ? f : 1);
      const second = pen.wide ? { x: pen.width / 2 + 20, y: 0, w } : { x: 0, y: PLOT + 60, w };
      drawPlot(view, pen, second, 'MaxVio', 'maxVio', beat === 0 ? 0 : f);
      const bottom = (pen.wide ? PLOT + 60 : 2 * (PLOT + 60)) + 10;
      runs.forEach((run, i) => {
        lineTo(pen, 0, bottom + i * 20 - 4, 20, bottom + i * 20 - 4, colourOf(pen, i), { thick: 3 });
        words(pen, 28, bottom + i * 20, run.name, { size: 12.5 });
      });
    },
  };
}
