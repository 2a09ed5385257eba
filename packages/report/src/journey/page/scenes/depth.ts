/** Scene: down the depth, one running sum against block summaries that a layer can choose among. */
import type { DepthRow, JourneyTrace } from '../../trace.js';
import { between, box, dot, heading, lineTo, type Pen, part, widthOf, words } from '../pen.js';
import { type Beat, plural, type Scene, WIDE } from '../scene.js';

const READER = 19;

const ordinaryHeight = (width: number) => (width >= WIDE ? 0 : 120);

/** What the scene's pictures and words are made from, computed once. */
function depthView(trace: JourneyTrace) {
  const { depth, layers, fullSize } = trace;
  const last = depth[depth.length - 1];
  const blocks = last.weights.length - 1;
  const colourOf = (pen: Pen, row: DepthRow, i: number) =>
    i === row.weights.length - 1 ? pen.colours.glow : pen.colours.parts[[0, 2, 3, 4, 5][i % 5]];
  const readerName = (row: DepthRow) =>
    row.place === 'output'
      ? 'output'
      : `${row.layer} ${row.place === 'attention' ? 'mixer' : row.layer === 0 ? 'dense' : 'experts'}`;
  return { depth, layers, fullSize, last, blocks, colourOf, readerName };
}

type DepthView = ReturnType<typeof depthView>;

function sourceName(row: DepthRow, i: number) {
  if (i === row.weights.length - 1) return 'running sum';
  return i === 0 ? 'embedding' : `block ${i}`;
}

/** The ordinary residual: every layer into one line. */
function drawOrdinary(view: DepthView, pen: Pen, w: number, f: number) {
  const { depth, layers } = view;
  heading(pen, 0, 12, 'ordinary residual: one sum');
  const tall = pen.wide;
  const span = tall ? depth.length * READER : w;
  const count = layers.length + 1;
  for (let i = 0; i < count; i++) {
    const at = ((i + 0.5) * span) / count;
    if (f * count < i) break;
    const [x, y] = tall ? [24, 40 + at] : [at, 44];
    box(pen, x - 11, y - 9, 22, 18, { stroke: pen.colours.muted, radius: 4 });
    words(pen, x, y + 4, i === 0 ? 'x' : String(i - 1), {
      size: 11,
      align: 'center',
      colour: pen.colours.muted,
    });
    const [tx, ty] = tall ? [96, y] : [x, 84];
    lineTo(pen, tall ? x + 12 : x, tall ? y : y + 10, tx, ty, pen.colours.line, { arrow: true });
  }
  const end = f * span;
  if (tall) {
    lineTo(pen, 100, 44, 100, 40 + end, pen.colours.glow, { thick: 4 });
    dot(pen, 100, 40 + end, 5);
    words(pen, 116, 40 + span / 2 - 8, 'each with', { size: 12, colour: pen.colours.muted });
    words(pen, 116, 40 + span / 2 + 8, 'weight 1,', { size: 12, colour: pen.colours.muted });
    words(pen, 116, 40 + span / 2 + 24, 'none apart', { size: 12, colour: pen.colours.muted });
  } else {
    lineTo(pen, 4, 88, end, 88, pen.colours.glow, { thick: 4 });
    dot(pen, Math.max(6, end - 6), 88, 5);
    words(pen, 0, 110, 'each with weight 1, none to be told apart', {
      size: 11.5,
      colour: pen.colours.muted,
    });
  }
}

function drawReader(
  view: DepthView,
  pen: Pen,
  row: DepthRow,
  i: number,
  x: number,
  top: number,
  seen: number,
) {
  const { depth, colourOf, readerName } = view;
  const y = top + i * READER;
  const chosen = i === depth.length - 1;
  words(pen, x + 70, y + 13, readerName(row), {
    size: 11.5,
    align: 'right',
    colour: pen.colours.muted,
    alpha: seen,
  });
  let at = x + 78;
  const full = pen.width - at;
  row.weights.forEach((weight, s) => {
    const w = weight * full * seen;
    box(pen, at, y, Math.max(0, w - 1), READER - 4, {
      fill: colourOf(pen, row, s),
      radius: 2,
      alpha: 0.85,
    });
    if (w > 40 && seen === 1)
      words(pen, at + 5, y + 11.5, weight.toFixed(2), {
        size: 10.5,
        colour: pen.colours.card,
        bold: chosen,
      });
    at += w;
  });
}

function drawLegend(view: DepthView, pen: Pen, x: number, y: number) {
  const { last, colourOf } = view;
  let at = x;
  last.weights.forEach((_, i) => {
    box(pen, at, y - 9, 10, 10, { fill: colourOf(pen, last, i), radius: 2 });
    const name = sourceName(last, i);
    words(pen, at + 14, y, name, { size: 11.5, colour: pen.colours.muted });
    at += 26 + widthOf(pen, name, 11.5);
  });
}

function drawSum(view: DepthView, pen: Pen, x: number, y: number, f: number) {
  const { last } = view;
  const total = last.weights.reduce((sum, weight) => sum + weight, 0);
  const terms = last.weights.map((weight) => weight.toFixed(3)).join(' + ');
  words(pen, x, y, `output: ${terms} = ${total.toFixed(3)}`, {
    size: pen.wide ? 15 : 12.5,
    bold: true,
    alpha: part(f, 0.2, 0.8),
    colour: pen.colours.glow,
  });
}

function depthBeats(view: DepthView): Beat[] {
  const { depth, layers, last, blocks } = view;
  return [
    {
      caption: `With an ordinary residual the ${plural(layers.length, 'layer')} of the miniature would pour into one vector. (How such a sum works, not a measurement.)`,
      seconds: 4,
    },
    {
      caption: `Here every reader weighs its sources: ${depth.length} readers, from ${plural(depth[0].weights.length, 'source')} at the bottom to ${last.weights.length} at the top. Each bar sums to one.`,
      seconds: 6,
    },
    {
      caption: `The output reads ${last.weights.map((weight, i) => `${sourceName(last, i)} ${weight.toFixed(3)}`).join(', ')}: ${blocks} summaries and the running sum.`,
      seconds: 4,
    },
  ];
}

export function depthScene(trace: JourneyTrace): Scene {
  const view = depthView(trace);
  const { depth, fullSize } = view;
  return {
    id: 'depth',
    title: 'Down the depth: choose what to read',
    story:
      'An ordinary residual adds every layer into one vector, and a later layer must take the sum as it is. Attention residuals close the sum every few layers and keep it as a summary; each layer then mixes the summaries with weights of its own.',
    sources: ['miniature'],
    fullSize: [
      `blocks of ${fullSize.blockLayers} layers: ${fullSize.blockCount} summaries and the running sum serve ${fullSize.layers} layers, instead of ${fullSize.layers} outputs kept apart`,
    ],
    beats: depthBeats(view),
    height: (width) => ordinaryHeight(width) + 34 + depth.length * READER + 66,
    draw(pen, beat, f) {
      const x = pen.wide ? 246 : 0;
      const top = ordinaryHeight(pen.width) + 34;
      drawOrdinary(view, pen, pen.wide ? 190 : pen.width, beat === 0 ? f : 1);
      if (beat === 0) return;
      heading(pen, x, top - (pen.wide ? 22 : 12), 'attention residuals: weights of each reader, measured');
      depth.forEach((row, i) => {
        const reached = beat === 1 ? part(f * depth.length - i) : 1;
        if (reached > 0) drawReader(view, pen, row, i, x, top, reached);
      });
      const bottom = top + depth.length * READER;
      drawLegend(view, pen, x, bottom + 20);
      if (beat === 2) {
        drawSum(view, pen, x, bottom + 48, f);
        box(pen, x + 75, bottom - READER - 3, between(0, pen.width - x - 77, part(f, 0, 0.4)), READER + 2, {
          stroke: pen.colours.glow,
          thick: 2,
          radius: 3,
        });
      }
    },
  };
}
