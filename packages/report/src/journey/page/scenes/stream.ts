/** Scene: a picture's patches and a text's characters become rows of one causal stream. */
import type { JourneyTrace } from '../../trace.js';
import { between, box, cells, heading, largestOf, type Pen, part, words } from '../pen.js';
import { type Beat, plural, type Scene, tokenName } from '../scene.js';

const STREAM_CELL = 7;

/** Side of the picture as drawn. */
const pictureSize = (width: number) => Math.min(168, Math.round(width * 0.42));

const chipPlace = (width: number, i: number) => {
  const left = pictureSize(width) + 20;
  const perRow = Math.max(1, Math.floor((width - left) / 19));
  return { x: left + (i % perRow) * 19, y: 24 + Math.floor(i / perRow) * 24 };
};

/** What the scene's pictures and words are made from, computed once. */
function streamView(trace: JourneyTrace) {
  const { stream, model, fullSize } = trace;
  const { picture, tokens, focus } = stream;
  const images = tokens.filter((token) => token.kind === 'image').length;
  const texts = tokens.length - images;
  const scale = largestOf(stream.rows.flat());
  const shown = stream.rows[0].length;
  const topHeight = (width: number) =>
    Math.max(pictureSize(width) + 46, chipPlace(width, Math.max(0, texts - 1)).y + 36);
  const followed = tokens[focus];
  return {
    stream,
    model,
    fullSize,
    picture,
    tokens,
    focus,
    images,
    texts,
    scale,
    shown,
    topHeight,
    followed,
  };
}

type StreamView = ReturnType<typeof streamView>;

function drawPicture(view: StreamView, pen: Pen, alpha: number) {
  const { picture } = view;
  if (picture === null) return;
  const size = pictureSize(pen.width);
  const cell = size / picture.side;
  pen.g.globalAlpha = alpha;
  picture.pixels.forEach((grey, i) => {
    const level = Math.round(255 * grey);
    pen.g.fillStyle = `rgb(${level},${level},${Math.min(255, level + 14)})`;
    pen.g.fillRect(
      (i % picture.side) * cell,
      24 + Math.floor(i / picture.side) * cell,
      cell + 0.5,
      cell + 0.5,
    );
  });
  pen.g.globalAlpha = 1;
}

function drawGrid(view: StreamView, pen: Pen, step: number, colour: string, thick: number) {
  const { picture } = view;
  if (picture === null) return;
  const size = pictureSize(pen.width);
  for (let at = 0; at < picture.side; at += step) {
    for (let to = 0; to < picture.side; to += step) {
      const unit = size / picture.side;
      box(pen, at * unit, 24 + to * unit, step * unit, step * unit, { stroke: colour, thick });
    }
  }
}

function drawColumn(view: StreamView, pen: Pen, t: number, y: number, alpha: number) {
  const { stream, tokens, focus, scale, shown } = view;
  const w = pen.width / tokens.length;
  pen.g.globalAlpha = alpha;
  cells(pen, t * w, y, { w: Math.max(0.8 * w, w - 1), h: STREAM_CELL }, stream.rows[t], 1, scale);
  pen.g.globalAlpha = 1;
  const { kind, label } = tokens[t];
  if (w < 7 && t !== focus) return;
  words(pen, (t + 0.5) * w - 0.5, y + shown * STREAM_CELL + 15, kind === 'image' ? '▦' : tokenName(label), {
    size: w < 10 ? 10 : 13,
    mono: true,
    align: 'center',
    alpha,
    colour: t === focus ? pen.colours.glow : pen.colours.text,
    bold: t === focus,
  });
}

function drawPatchesMoving(view: StreamView, pen: Pen, y: number, f: number) {
  const { picture, tokens, images, shown } = view;
  if (picture === null) return;
  const size = pictureSize(pen.width);
  const perSide = Math.round(Math.sqrt(images));
  for (let i = 0; i < images; i++) {
    const at = part(f, (0.5 * i) / images, 0.5 + (0.5 * i) / images);
    const unit = size / perSide;
    const column = pen.width / tokens.length;
    box(
      pen,
      between((i % perSide) * unit, i * column, at),
      between(24 + Math.floor(i / perSide) * unit, y, at),
      between(unit, column - 1, at),
      between(unit, shown * STREAM_CELL, at),
      { stroke: pen.colours.glow, thick: 2 },
    );
    if (at > 0.98) drawColumn(view, pen, i, y, 1);
  }
}

function drawText(view: StreamView, pen: Pen, y: number, f: number, flying: boolean) {
  const { tokens, images, texts } = view;
  for (let i = 0; i < texts; i++) {
    const at = flying ? part(f, (0.7 * i) / texts, 0.3 + (0.7 * i) / texts) : 0;
    const from = chipPlace(pen.width, i);
    const label = tokenName(tokens[images + i].label);
    box(pen, from.x, from.y, 17, 21, { stroke: pen.colours.line, radius: 3 });
    words(pen, from.x + 8.5, from.y + 15, label, { size: 13, mono: true, align: 'center' });
    if (at > 0 && at < 1) {
      const toX = ((images + i + 0.5) * pen.width) / tokens.length;
      words(pen, between(from.x + 8, toX, at), between(from.y + 15, y + 20, at), label, {
        mono: true,
        align: 'center',
        colour: pen.colours.glow,
        bold: true,
      });
    }
    if (at >= 1) drawColumn(view, pen, images + i, y, 1);
  }
}

function streamBeats(view: StreamView): Beat[] {
  const { stream, picture, tokens, focus, images, texts, followed } = view;
  return [
    {
      caption:
        picture === null
          ? 'This model reads text alone.'
          : `A picture of ${picture.side} x ${picture.side} pixels is cut into ${(picture.side / picture.patchSize) ** 2} patches of ${picture.patchSize} x ${picture.patchSize}.`,
      seconds: 3,
    },
    {
      caption:
        picture === null
          ? 'No patches.'
          : `${plural(picture.encoderLayers, 'encoder layer')} let every patch read every patch; each square of ${picture.mergeSize} x ${picture.mergeSize} becomes one row of ${stream.hiddenSize}: ${plural(images, 'image token')}.`,
      seconds: 4,
    },
    {
      caption: `${plural(texts, 'character')} look up their rows in the embedding: ${plural(texts, 'text token')}.`,
      seconds: 5,
    },
    {
      caption: `One causal stream of ${tokens.length} rows. We follow row ${focus}, ${followed.kind === 'image' ? `image ${followed.label}` : `the text token "${tokenName(followed.label)}"`}. It will see the ${plural(focus, 'row')} before it and none after.`,
      seconds: 4,
    },
  ];
}

export function streamScene(trace: JourneyTrace): Scene {
  const view = streamView(trace);
  const { stream, model, fullSize, picture, tokens, focus, images, shown, topHeight } = view;
  return {
    id: 'stream',
    title: 'Every modality on one causal stream',
    story:
      'Before anything else happens, picture and text become the same thing: rows of one width in one order. After this point the stack does not ask where a row came from.',
    sources: ['miniature'],
    fullSize: [
      `rows of ${fullSize.hiddenSize.toLocaleString('en-US')} values, a vocabulary of ${fullSize.vocabulary.toLocaleString('en-US')}, up to ${fullSize.contextTokens.toLocaleString('en-US')} positions`,
      `a vision encoder of ${fullSize.visionLayers} layers before the same kind of 2 x 2 merge and projector`,
    ],
    beats: streamBeats(view),
    height: (width) => topHeight(width) + shown * STREAM_CELL + 44,
    draw(pen, beat, f) {
      const y = topHeight(pen.width) + 12;
      if (picture !== null) heading(pen, 0, 12, 'picture');
      heading(pen, pictureSize(pen.width) + 20, 12, 'text');
      heading(
        pen,
        0,
        y - 8,
        `one stream, first ${shown} of ${stream.hiddenSize} values of each row (${model})`,
      );
      drawPicture(view, pen, beat === 0 ? 0.35 + 0.65 * part(f, 0, 0.4) : 1);
      if (picture !== null)
        drawGrid(
          view,
          pen,
          beat === 0 ? picture.patchSize : picture.patchSize * picture.mergeSize,
          '#8899aa',
          1,
        );
      if (beat === 1) drawPatchesMoving(view, pen, y, f);
      if (beat >= 2) for (let t = 0; t < images; t++) drawColumn(view, pen, t, y, 1);
      drawText(view, pen, y, beat >= 3 ? 1 : f, beat >= 2);
      if (beat < 3) return;
      const w = pen.width / tokens.length;
      const veil = 1 - part(f, 0, 0.5);
      for (let t = focus + 1; t < tokens.length; t++) {
        box(pen, t * w, y, w, shown * STREAM_CELL, { fill: pen.colours.card, alpha: 0.75 * (1 - veil) });
      }
      box(pen, focus * w - 1, y - 2, w + 1, shown * STREAM_CELL + 22, {
        stroke: pen.colours.glow,
        thick: 2,
        radius: 3,
        alpha: 1 - veil,
      });
    },
  };
}
