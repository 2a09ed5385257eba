/** Scene: a packed gradient is storage, not geometry: orthogonalised head by head and as a whole. */
import { formatValue } from '../../../page/format.js';
import type { JourneyTrace } from '../../trace.js';
import { box, cells, heading, largestOf, lineTo, type Pen, part, words } from '../pen.js';
import { type Beat, plural, type Scene, WIDE } from '../scene.js';

const CHART = 150;

/** What the scene's pictures and words are made from, computed once. */
function muonView(trace: JourneyTrace) {
  const { muon, fullSize } = trace;
  const { pool, rows, columns, blockRows, blocks, steps } = muon;
  const across = columns / pool;
  const along = rows / pool;
  const pooledScale = largestOf(muon.pooled);
  const heads = blocks.length;
  const perBlock = blockRows / pool;
  const lastStep = steps[steps.length - 1];
  const least = Math.min(...blocks.map((block) => block.perHead));
  const mostError = Math.max(...steps.flatMap((step) => [step.perHead, step.whole]));
  const gap = (f: number) => 6 * f;
  const packedCell = (width: number) => Math.min(17, (width - gap(1) * heads) / along);
  const packedHeight = (width: number) => 24 + packedCell(width) * across + 24;
  const gramCell = (width: number) => (width >= WIDE ? 10 : Math.min(10, (width - 20) / (2 * blockRows)));
  const secondTop = (width: number) => packedHeight(width) + 14;
  return {
    muon,
    fullSize,
    pool,
    rows,
    columns,
    blockRows,
    blocks,
    steps,
    across,
    along,
    pooledScale,
    heads,
    perBlock,
    lastStep,
    least,
    mostError,
    gap,
    packedCell,
    packedHeight,
    gramCell,
    secondTop,
  };
}

type MuonView = ReturnType<typeof muonView>;

/** The gradient lying down: outputs along, inputs across. */
function drawPacked(view: MuonView, pen: Pen, opened: number) {
  const { muon, pool, rows, columns, blocks, across, along, pooledScale, heads, perBlock, gap, packedCell } =
    view;
  const cell = packedCell(pen.width);
  heading(pen, 0, 12, `packed gradient, ${rows} x ${columns}, mean size over ${pool} x ${pool}`);
  for (let row = 0; row < along; row++) {
    const block = Math.floor(row / perBlock);
    const x = row * cell + block * gap(opened);
    cells(
      pen,
      x,
      22,
      { w: cell, h: cell },
      muon.pooled.slice(row * across, (row + 1) * across),
      1,
      pooledScale,
    );
  }
  for (let block = 0; block < heads; block++) {
    const x = block * (perBlock * cell + gap(opened));
    const name = blocks[block].name;
    words(
      pen,
      x + (perBlock * cell) / 2,
      22 + across * cell + 15,
      `${name[0].toUpperCase()}${name.slice(-1)}`,
      {
        size: 11,
        align: 'center',
        alpha: opened,
        colour: pen.colours.muted,
      },
    );
    if (opened > 0)
      box(pen, x - 1, 21, perBlock * cell + 1, across * cell + 1, {
        stroke: pen.colours.mini,
        alpha: opened,
      });
  }
}

function drawSteps(view: MuonView, pen: Pen, x: number, top: number, w: number, f: number) {
  const { steps, lastStep, mostError } = view;
  heading(pen, x, top + 12, 'orthogonality error of a head, mean, by step');
  const base = top + 28 + CHART;
  const px = (step: number) => x + 26 + (step * (w - 40)) / (steps.length - 1);
  const py = (error: number) => base - (CHART * error) / mostError;
  for (let mark = 0; mark <= mostError; mark++) {
    lineTo(pen, x + 22, py(mark), x + w, py(mark), pen.colours.line);
    words(pen, x + 16, py(mark) + 4, String(mark), { size: 11, align: 'right', colour: pen.colours.muted });
  }
  const curves = [
    ['whole', pen.colours.glow],
    ['perHead', pen.colours.mini],
  ] as const;
  for (const [key, colour] of curves) {
    for (let step = 0; step + 1 < steps.length; step++) {
      const at = part(f * (steps.length - 1) - step);
      if (at === 0) break;
      const [a, b] = [steps[step][key], steps[step + 1][key]];
      lineTo(pen, px(step), py(a), px(step + at), py(a + (b - a) * at), colour, { thick: 2.5 });
    }
  }
  const end = px(steps.length - 1);
  for (const [key, colour] of curves) {
    const name = key === 'whole' ? 'whole slice' : 'per head';
    words(pen, end, py(lastStep[key]) + 18, name, { size: 12, bold: true, colour, align: 'right' });
  }
  steps.forEach((_, step) => {
    words(pen, px(step), base + 16, String(step), { size: 11, align: 'center', colour: pen.colours.muted });
  });
}

function drawGrams(view: MuonView, pen: Pen, x: number, top: number, f: number) {
  const { muon, blockRows, blocks, gramCell } = view;
  const cell = gramCell(pen.width);
  const side = blockRows * cell;
  const grams = [
    ['per head', muon.gramPerHead, blocks[0].perHead, pen.colours.mini],
    ['whole slice', muon.gramWhole, blocks[0].whole, pen.colours.glow],
  ] as const;
  heading(pen, x, top + 12, `X Xᵀ of ${blocks[0].name} after five steps, ideally the identity`);
  grams.forEach(([name, gram, error, colour], i) => {
    const left = x + i * (side + 20);
    cells(
      pen,
      left,
      top + 22,
      { w: cell, h: cell },
      gram.slice(0, Math.ceil(f * gram.length)),
      blockRows,
      1.2,
    );
    words(pen, left, top + 22 + side + 18, `${name}: ${error.toFixed(2)}`, {
      size: 12.5,
      bold: true,
      colour,
    });
  });
}

function muonBeats(view: MuonView): Beat[] {
  const { muon, rows, columns, blockRows, steps, heads, lastStep, least } = view;
  return [
    {
      caption: `A real gradient of layer ${muon.layer}: queries, keys and values of the miniature packed into one ${rows} x ${columns} matrix.`,
      seconds: 3.5,
    },
    { caption: `Its head boundaries: ${plural(heads, 'block')} of ${blockRows} x ${columns}.`, seconds: 3 },
    {
      caption: `Five Newton-Schulz steps. Mean error of a head's block from orthogonal: per head ${steps[0].perHead.toFixed(2)} → ${lastStep.perHead.toFixed(2)}, whole slice ${steps[0].whole.toFixed(2)} → ${lastStep.whole.toFixed(2)}.`,
      seconds: 5,
    },
    {
      caption: `Per head every block comes nearer to the identity (best ${least.toFixed(2)}). The whole slice cannot: ${rows} rows do not fit orthonormally into ${columns} columns. This is geometry, not a claim about convergence.`,
      seconds: 5,
    },
  ];
}

export function muonScene(trace: JourneyTrace): Scene {
  const view = muonView(trace);
  const { fullSize, blockRows, gramCell, secondTop } = view;
  return {
    id: 'muon',
    title: 'Training: orthogonalise each head by itself',
    story:
      "Muon replaces a gradient by the nearest thing to an orthogonal matrix. Queries, keys and values of all heads are stored as one matrix, but a head is the unit that acts. Treated whole, every head's step depends on its neighbours'.",
    sources: ['gradient'],
    fullSize: [
      `one ${(fullSize.kdaHeads * fullSize.kdaHeadDim).toLocaleString('en-US')} x ${fullSize.hiddenSize.toLocaleString('en-US')} projection: ${formatValue(fullSize.muonFlopsPerHead, 'count')}FLOP in blocks of a head against ${formatValue(fullSize.muonFlopsWhole, 'count')}FLOP whole, ${(fullSize.muonFlopsWhole / fullSize.muonFlopsPerHead).toFixed(0)} times less`,
    ],
    beats: muonBeats(view),
    height: (width) =>
      secondTop(width) + (width >= WIDE ? CHART + 60 : CHART + 60 + blockRows * gramCell(width) + 60),
    draw(pen, beat, f) {
      drawPacked(view, pen, beat === 0 ? 0 : beat === 1 ? part(f) : 1);
      const top = secondTop(pen.width);
      const w = pen.wide ? pen.width * 0.52 : pen.width;
      if (beat >= 2) drawSteps(view, pen, 0, top, w, beat === 2 ? f : 1);
      if (beat < 3) return;
      if (pen.wide) drawGrams(view, pen, pen.width * 0.58, top, part(f));
      else drawGrams(view, pen, 0, top + CHART + 56, part(f));
    },
  };
}
