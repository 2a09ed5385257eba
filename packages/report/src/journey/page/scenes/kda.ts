/** Scene: one head's state probes, corrects, decays and writes at a fixed size; a softmax cache beside it grows. */
import { formatValue } from '../../../page/format.js';
import type { JourneyTrace } from '../../trace.js';
import { between, box, cells, heading, largestOf, type Pen, part, words } from '../pen.js';
import { type Beat, plural, type Scene, WIDE } from '../scene.js';

const PREFIX = 0;
const DECAY = 1;
const PROBE = 2;
const CORRECT = 3;
const WRITE = 4;

/** Where the state stands. */
const STATE_X = 64;
const STATE_Y = 96;

const stateCell = (width: number) => (width >= WIDE ? 17 : Math.min(15, Math.floor((width - 78) / 16)));

/** What the scene's pictures and words are made from, computed once. */
function kdaView(trace: JourneyTrace) {
  const { kda, fullSize } = trace;
  const { tokens, headDim: dim } = kda;
  const last = tokens.length - 1;
  const now = tokens[last];
  const before = last > 0 ? tokens[last - 1].state : now.state.map(() => 0);
  const decayed = before.map((value, i) => value * now.alpha[Math.floor(i / dim)]);
  const stateScale = largestOf(tokens.flatMap((token) => token.state));
  const rowScale = largestOf(tokens.flatMap((token) => [...token.value, ...token.predicted]));
  const keyScale = largestOf(tokens.flatMap((token) => token.key));
  const cacheBytes = kda.cacheBytesPerToken * tokens.length;
  const alphas = `${Math.min(...now.alpha).toFixed(3)} to ${Math.max(...now.alpha).toFixed(3)}`;
  const size = (values: readonly number[]) => Math.hypot(...values).toFixed(3);
  const stateHeight = (width: number) => 96 + dim * stateCell(width) + 34;
  const cacheRow = (width: number) => Math.max(1, Math.min(9, (stateHeight(width) - 70) / tokens.length));
  return {
    kda,
    fullSize,
    tokens,
    dim,
    last,
    now,
    before,
    decayed,
    stateScale,
    rowScale,
    keyScale,
    cacheBytes,
    alphas,
    size,
    stateHeight,
    cacheRow,
  };
}

type KdaView = ReturnType<typeof kdaView>;

function stateAt(view: KdaView, beat: number, f: number): readonly number[] {
  const { tokens, last, now, before, decayed } = view;
  if (beat === PREFIX) {
    const t = Math.min(last - 1, Math.floor(f * last));
    return t < 0 ? before : tokens[t].state;
  }
  if (beat === DECAY) return before.map((value, i) => between(value, decayed[i], part(f, 0.2, 0.8)));
  if (beat < WRITE) return decayed;
  if (beat === WRITE) return decayed.map((value, i) => between(value, now.state[i], part(f, 0.1, 0.8)));
  return now.state;
}

type KdaToken = KdaView['tokens'][number];

/** Share of a row of values that is there yet: rows appear in the beats that compute them. */
function shareSeen(row: 'value' | 'predicted' | 'missed', beat: number, f: number): number {
  if (beat === DECAY) return row === 'value' ? 1 : 0;
  if (beat === PROBE) return { value: 1, predicted: part(f), missed: 0 }[row];
  return beat === CORRECT && row === 'missed' ? part(f) : 1;
}

/** Above the state: the value, what was predicted, what was missed. */
function drawValueRows(view: KdaView, pen: Pen, token: KdaToken, beat: number, f: number) {
  const { dim, rowScale } = view;
  const cell = stateCell(pen.width);
  const rows = [
    ['v', 'value', beat === CORRECT],
    ['Sᵀk', 'predicted', beat === PROBE],
    ['e', 'missed', beat === CORRECT || beat === WRITE],
  ] as const;
  rows.forEach(([name, key, active], i) => {
    words(pen, STATE_X - 8, 34 + i * 22, name, {
      size: 12,
      align: 'right',
      bold: active,
      colour: active ? pen.colours.glow : pen.colours.muted,
    });
    const seen = token[key].slice(0, Math.ceil(shareSeen(key, beat, f) * dim));
    cells(pen, STATE_X, 23 + i * 22, { w: cell, h: 15 }, seen, dim, rowScale);
  });
}

/** Beside the state: how much each of its rows keeps, and the key. */
function drawKeyColumns(view: KdaView, pen: Pen, token: KdaToken, beat: number) {
  const { dim, keyScale } = view;
  const cell = stateCell(pen.width);
  const columns = [
    ['α', token.alpha, 1, beat === DECAY],
    ['k', token.key, keyScale, beat === PROBE || beat === WRITE],
  ] as const;
  columns.forEach(([name, values, scale, active], i) => {
    const left = 8 + i * 26;
    words(pen, left + 9, STATE_Y - 6, name, {
      size: 12,
      align: 'center',
      bold: active,
      colour: active ? pen.colours.glow : pen.colours.muted,
    });
    cells(pen, left, STATE_Y, { w: 18, h: cell }, values, 1, scale);
    if (!active) return;
    const look = { stroke: pen.colours.glow, thick: 1.5, radius: 2 };
    box(pen, left - 2, STATE_Y - 2, 21, dim * cell + 3, look);
  });
}

function drawState(view: KdaView, pen: Pen, beat: number, f: number) {
  const { kda, tokens, dim, last, stateScale } = view;
  const cell = stateCell(pen.width);
  const side = dim * cell;
  const t = beat === PREFIX ? Math.max(0, Math.min(last - 1, Math.floor(f * last))) : last;
  heading(pen, 0, 12, `KDA state of layer ${kda.layer}, head ${kda.head}: ${dim} x ${dim}, always`);
  drawValueRows(view, pen, tokens[t], beat, f);
  drawKeyColumns(view, pen, tokens[t], beat);
  cells(pen, STATE_X, STATE_Y, { w: cell, h: cell }, stateAt(view, beat, f), dim, stateScale);
  const frame = { stroke: pen.colours.mini, thick: 2, radius: 2 };
  box(pen, STATE_X - 2, STATE_Y - 2, side + 3, side + 3, frame);
  if (beat === PROBE && f < 1) {
    const column = Math.min(dim - 1, Math.floor(part(f) * dim));
    const look = { stroke: pen.colours.glow, thick: 2 };
    box(pen, STATE_X + column * cell - 1, STATE_Y - 1, cell + 1, side, look);
  }
  const text = `${formatValue(kda.stateBytes, 'bytes')} after token ${t}, as after token 0`;
  words(pen, STATE_X, STATE_Y + side + 20, text, { size: 12, colour: pen.colours.mini, bold: true });
}

function drawCache(view: KdaView, pen: Pen, x: number, top: number, beat: number, f: number) {
  const { kda, tokens, dim, last, rowScale, keyScale, cacheRow } = view;
  const w = pen.width - x;
  const h = cacheRow(pen.width);
  const cell = Math.floor((w - 14) / (2 * dim));
  const shown = beat === PREFIX ? Math.min(last, Math.max(1, Math.ceil(f * last))) : tokens.length;
  heading(pen, x, top + 12, 'the same keys and values in a softmax cache');
  words(pen, x, top + 34, 'K', { size: 12, colour: pen.colours.muted });
  words(pen, x + dim * cell + 14, top + 34, 'V', { size: 12, colour: pen.colours.muted });
  for (let t = 0; t < shown; t++) {
    const y = top + 42 + t * h;
    cells(pen, x, y, { w: cell, h }, tokens[t].key, dim, keyScale);
    cells(pen, x + dim * cell + 14, y, { w: cell, h }, tokens[t].value, dim, rowScale);
  }
  box(pen, x - 2, top + 40, 2 * dim * cell + 18, shown * h + 4, {
    stroke: pen.colours.glow,
    thick: 1.5,
    radius: 2,
  });
  words(
    pen,
    x,
    top + 42 + tokens.length * h + 20,
    `${formatValue(shown * kda.cacheBytesPerToken, 'bytes')} after ${plural(shown, 'token')}, ${kda.cacheBytesPerToken} B more for each`,
    { size: 12, colour: pen.colours.glow, bold: true },
  );
}

function kdaBeats(view: KdaView): Beat[] {
  const { kda, tokens, last, now, cacheBytes, alphas, size } = view;
  return [
    {
      caption: `The first ${plural(last, 'token')} have been written. The state has kept its size while the cache beside it has grown row by row.`,
      seconds: 6,
    },
    {
      caption: `Decay: each row of the state is multiplied by its own α, here ${alphas}. Nothing is forgotten at once.`,
      seconds: 3.5,
    },
    {
      caption: `Probe: the token's key reads the faded state and predicts a value of size ${size(now.predicted)}.`,
      seconds: 3.5,
    },
    {
      caption: `Correct: the true value has size ${size(now.value)}; what the prediction missed, e = v - Sᵀk, has size ${size(now.missed)}.`,
      seconds: 3.5,
    },
    {
      caption: `Write: β k eᵀ is added with β = ${now.beta.toFixed(3)}. The state has changed and has not grown.`,
      seconds: 3.5,
    },
    {
      caption: `After ${plural(tokens.length, 'token')}: ${formatValue(kda.stateBytes, 'bytes')} of state (FP32) against ${formatValue(cacheBytes, 'bytes')} of keys and values (16 bits) for the same head.`,
      seconds: 4,
    },
  ];
}

export function kdaScene(trace: JourneyTrace): Scene {
  const view = kdaView(trace);
  const { fullSize, tokens, dim, stateHeight, cacheRow } = view;
  return {
    id: 'kda',
    title: 'A memory of fixed size that corrects itself',
    story:
      'The state is a small matrix that predicts a value from a key. Each token lets it fade a little, asks what it would have predicted, and writes back only what the prediction missed. The fading comes first, so the prediction is made from what is left.',
    sources: ['miniature'],
    fullSize: [
      `${fullSize.kdaHeads} heads of ${fullSize.kdaHeadDim} x ${fullSize.kdaHeadDim} in each of ${fullSize.kdaLayers} layers: ${formatValue(fullSize.kdaStateBytes, 'bytes')} a sequence, the same at 1 token and at ${fullSize.contextTokens.toLocaleString('en-US')}`,
      'log decay bounded at -5 by a sigmoid, as in the miniature: no channel forgets faster than to 0.0067 in one token',
    ],
    beats: kdaBeats(view),
    height: (width) =>
      width >= WIDE ? stateHeight(width) + 8 : stateHeight(width) + 76 + cacheRow(width) * tokens.length,
    draw(pen, beat, f) {
      drawState(view, pen, beat, f);
      if (pen.wide) drawCache(view, pen, 64 + dim * stateCell(pen.width) + 60, 0, beat, f);
      else drawCache(view, pen, 2, stateHeight(pen.width) + 4, beat, f);
    },
  };
}
