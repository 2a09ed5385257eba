/** Scene: one small latent per token persists; keys and values are read back from it when they are needed. */
import { formatValue } from '../../../page/format.js';
import type { JourneyTrace } from '../../trace.js';
import { between, box, cells, heading, largestOf, lineTo, type Pen, part } from '../pen.js';
import { type Beat, plural, type Scene } from '../scene.js';

const KEPT_CELL = 5;
const HEAD_HEIGHT = 34;

/** What the scene's pictures and words are made from, computed once. */
function mlaView(trace: JourneyTrace) {
  const { mla, stream, fullSize } = trace;
  const visible = mla.kept.length;
  const width = mla.latentRank + mla.sharedKeySize;
  const keptScale = largestOf(mla.kept.flat());
  const inputScale = largestOf(mla.input);
  const readScale = largestOf([...mla.strongest.key, ...mla.strongest.value]);
  const most = Math.max(...mla.weights.flat());
  const strongestWeight = mla.weights[0][mla.strongest.token];
  const gates = `${Math.min(...mla.gate).toFixed(2)} to ${Math.max(...mla.gate).toFixed(2)}`;
  const keptTop = 76;
  const headsTop = keptTop + width * KEPT_CELL + 40;
  const readTop = headsTop + mla.headCount * HEAD_HEIGHT + 34;
  const outTop = readTop + 56;
  return {
    mla,
    stream,
    fullSize,
    visible,
    width,
    keptScale,
    inputScale,
    readScale,
    most,
    strongestWeight,
    gates,
    keptTop,
    headsTop,
    readTop,
    outTop,
  };
}

type MlaView = ReturnType<typeof mlaView>;

function drawKept(view: MlaView, pen: Pen, beat: number, f: number) {
  const { mla, visible, width, keptScale, keptTop } = view;
  const w = pen.width / visible;
  const shown = beat === 0 ? visible - 1 : visible;
  heading(
    pen,
    0,
    keptTop - 10,
    `kept: ${mla.latentRank} + ${mla.sharedKeySize} values a token, nothing else`,
  );
  for (let t = 0; t < shown; t++) {
    const arriving = beat === 1 && t === visible - 1;
    pen.g.globalAlpha = arriving ? part(f, 0.6, 1) : 1;
    cells(pen, t * w, keptTop, { w: Math.max(0.8 * w, w - 1), h: KEPT_CELL }, mla.kept[t], 1, keptScale);
    pen.g.globalAlpha = 1;
  }
  if (beat === 1) {
    const at = part(f, 0, 0.7);
    const cell = pen.width / mla.input.length;
    box(
      pen,
      between(0, (visible - 1) * w, at),
      between(22, keptTop, at),
      between(cell * mla.input.length, w, at),
      between(16, width * KEPT_CELL, at),
      { stroke: pen.colours.glow, thick: 2, radius: 2 },
    );
  }
}

function drawHeads(view: MlaView, pen: Pen, grown: number) {
  const { mla, visible, most, headsTop } = view;
  const w = pen.width / visible;
  heading(pen, 0, headsTop - 10, `softmax over all ${visible} kept rows, one line per head`);
  mla.weights.forEach((row, head) => {
    const base = headsTop + (head + 1) * HEAD_HEIGHT - 6;
    lineTo(pen, 0, base + 0.5, pen.width, base + 0.5, pen.colours.line);
    row.forEach((weight, t) => {
      const h = ((HEAD_HEIGHT - 8) * weight * grown) / most;
      const strongest = head === 0 && t === mla.strongest.token;
      box(pen, t * w, base - h, Math.max(1, w - 2), h, {
        fill: strongest ? pen.colours.glow : pen.colours.parts[head % pen.colours.parts.length],
      });
    });
  });
}

function drawRead(view: MlaView, pen: Pen, f: number) {
  const { mla, visible, width, readScale, keptTop, headsTop, readTop } = view;
  const w = pen.width / visible;
  const cell = Math.min(18, (pen.width - 20) / (2 * mla.strongest.key.length));
  const from = (mla.strongest.token + 0.5) * w;
  box(pen, from - w / 2 - 1, keptTop - 1, w + 1, width * KEPT_CELL + 1, {
    stroke: pen.colours.glow,
    thick: 2,
  });
  const end = between(headsTop - 4, readTop - 16, part(f, 0, 0.5));
  const look = { dash: [4, 3] };
  lineTo(pen, from, keptTop + width * KEPT_CELL + 2, from, headsTop - 24, pen.colours.glow, look);
  lineTo(pen, from, headsTop - 4, from, end, pen.colours.glow, look);
  const seen = Math.ceil(part(f, 0.4, 1) * mla.strongest.key.length);
  heading(pen, 0, readTop, `key, from row ${mla.strongest.token}`);
  cells(pen, 0, readTop + 8, { w: cell, h: 16 }, mla.strongest.key.slice(0, seen), seen || 1, readScale);
  const x = mla.strongest.key.length * cell + 20;
  heading(pen, x, readTop, 'value');
  cells(pen, x, readTop + 8, { w: cell, h: 16 }, mla.strongest.value.slice(0, seen), seen || 1, readScale);
}

function drawOut(view: MlaView, pen: Pen, f: number) {
  const { mla, outTop } = view;
  const cell = pen.width / mla.output.length;
  heading(pen, 0, outTop, `back at full width: ${mla.output.length} values, gated`);
  const scale = largestOf(mla.output);
  cells(
    pen,
    0,
    outTop + 8,
    { w: cell, h: 18 },
    mla.output.slice(0, Math.ceil(f * mla.output.length)),
    mla.output.length,
    scale,
  );
}

function mlaBeats(view: MlaView): Beat[] {
  const { mla, stream, visible, width, strongestWeight, gates } = view;
  return [
    {
      caption: `Our token enters layer ${mla.layer} as ${mla.input.length} values; ${plural(visible - 1, 'kept row')} of earlier tokens wait.`,
      seconds: 3,
    },
    {
      caption: `It is pressed into ${mla.latentRank} values and ${mla.sharedKeySize} shared ones. Only these ${width} of ${mla.input.length} persist.`,
      seconds: 3.5,
    },
    {
      caption: `Its query asks all ${visible} rows. Head 0 weighs row ${mla.strongest.token} ("${stream.tokens[mla.strongest.token].label.replace('\n', '↵')}") most, with ${strongestWeight.toFixed(3)}; each head's weights sum to one.`,
      seconds: 4.5,
    },
    {
      caption: `For that reading the ${width} kept values become ${mla.strongest.key.length} + ${mla.strongest.value.length} for each of ${mla.headCount} heads (head 0 is shown). They are never stored.`,
      seconds: 4,
    },
    {
      caption: `A gate (${gates} in head 0) scales what was read, and it returns to ${mla.output.length} values. Recomputed from the parts shown here, the output differs from the run's by ${mla.recomputedError.toExponential(0)} at most.`,
      seconds: 4.5,
    },
  ];
}

export function mlaScene(trace: JourneyTrace): Scene {
  const view = mlaView(trace);
  const { mla, fullSize, inputScale, outTop } = view;
  return {
    id: 'mla',
    title: 'Keep a latent, read back content',
    story:
      'Every fourth layer reads the whole prefix, and pays for it with a cache. What it keeps of a token is a narrow latent. Keys and values are expanded from it only for the moment of reading, and nothing says how far away a row is: it is found by content.',
    sources: ['miniature'],
    fullSize: [
      `${fullSize.mlaLatentRank} + ${fullSize.mlaSharedKeySize} values a token in each of ${fullSize.mlaLayers} layers: ${formatValue(fullSize.cacheBytesPerToken, 'bytes')} a token in 16 bits, ${formatValue(fullSize.cacheBytesPerToken * fullSize.contextTokens, 'bytes')} at ${fullSize.contextTokens.toLocaleString('en-US')} tokens`,
    ],
    beats: mlaBeats(view),
    height: () => outTop + 40,
    draw(pen, beat, f) {
      const cell = pen.width / mla.input.length;
      heading(pen, 0, 12, `what layer ${mla.layer} reads for our token: ${mla.input.length} values`);
      cells(pen, 0, 22, { w: cell, h: 16 }, mla.input, mla.input.length, inputScale);
      drawKept(view, pen, beat, f);
      if (beat >= 2) drawHeads(view, pen, beat === 2 ? part(f) : 1);
      if (beat >= 3) drawRead(view, pen, beat === 3 ? f : 1);
      if (beat >= 4) drawOut(view, pen, part(f));
    },
  };
}
