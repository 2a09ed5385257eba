/**
 * Scene: what was gathered becomes a distribution over the next token.
 * Its one idea: untrained weights guess, and are shown as a guess; where a short run was made, what it changed stands
 * beside it, each with its own name.
 */
import type { JourneyTrace, NextTokenPart } from '../../trace.js';
import { between, box, dot, heading, lineTo, ownerTag, type Pen, part, words } from '../pen.js';
import { type Beat, type Scene, tokenName } from '../scene.js';

const BAR = 24;
const TOP = 54;
const LEFT = 46;
const percent = (value: number) => `${(100 * value).toFixed(2)} %`;

/** What a beat shows: bars of one distribution, how far they have grown, whether its draw is shown. */
interface Shown {
  readonly next: NextTokenPart;
  readonly weights: string;
  readonly drawn: boolean;
}

/** Bars grow from nothing, or from what their tokens had before training. */
function drawBars(pen: Pen, { next, weights, drawn }: Shown, focus: number, grown: number) {
  const { top, vocabulary, sampled } = next;
  const scale = (pen.width - LEFT - 70) / top[0].probability;
  ownerTag(pen, 0, weights, 'mini');
  heading(pen, 0, 42, `the ${top.length} likeliest of ${vocabulary} tokens after row ${focus}`);
  top.forEach(({ label, probability, before }, i) => {
    const y = TOP + i * BAR;
    const chosen = drawn && label === sampled;
    const value = between(before ?? 0, probability, grown);
    words(pen, LEFT - 12, y + 15, tokenName(label), { size: 15, mono: true, align: 'right', bold: chosen });
    box(pen, LEFT, y, value * scale, BAR - 6, {
      fill: chosen ? pen.colours.glow : pen.colours.parts[0],
      radius: 3,
    });
    if (before !== null) {
      lineTo(pen, LEFT + before * scale, y - 2, LEFT + before * scale, y + BAR - 4, pen.colours.text, {
        thick: 2,
      });
    }
    const at = LEFT + Math.max(value, before ?? 0) * scale + 8;
    words(pen, at, y + 14, percent(value), { size: 12, colour: pen.colours.muted });
  });
  drawRest(pen, next, scale);
}

/** Where all tokens alike would stand, and what is not shown. */
function drawRest(pen: Pen, { top, vocabulary, restProbability }: NextTokenPart, scale: number) {
  const even = LEFT + scale / vocabulary;
  const bottom = TOP + top.length * BAR;
  lineTo(pen, even, TOP - 4, even, bottom, pen.colours.muted, { dash: [4, 4] });
  const look = { size: 11.5, colour: pen.colours.muted };
  words(pen, even, bottom + 14, `all equal: ${percent(1 / vocabulary)}`, look);
  const rest = `the other ${vocabulary - top.length} together: ${percent(restProbability)}`;
  words(pen, 0, bottom + 38, rest, { size: 12.5 });
  if (top[0].before === null) return;
  words(pen, 0, bottom + 56, 'upright marks: the same tokens before training', { size: 12.5 });
}

function drawSampled(pen: Pen, { next }: Shown, { tokens, focus }: JourneyTrace['stream'], f: number) {
  const y = TOP + next.top.length * BAR + 94;
  const tail = tokens.slice(Math.max(0, focus - 11), focus + 1);
  const w = Math.min(26, pen.width / 14);
  tail.forEach(({ kind, label }, i) => {
    box(pen, i * w, y - 18, w - 3, 26, { stroke: pen.colours.line, radius: 4 });
    words(pen, i * w + w / 2 - 1.5, y, kind === 'image' ? '▦' : tokenName(label), {
      mono: true,
      align: 'center',
    });
  });
  const x = tail.length * w;
  box(pen, x, y - 18, w - 3, 26, { stroke: pen.colours.glow, thick: 2, radius: 4, alpha: f });
  words(pen, x + w / 2 - 1.5, y, tokenName(next.sampled), {
    mono: true,
    align: 'center',
    bold: true,
    colour: pen.colours.glow,
    alpha: f,
  });
  if (f < 1) dot(pen, x * f + w / 2, y - 6, 4);
}

const entropy = ({ entropyBits, vocabulary }: NextTokenPart) =>
  `entropy ${entropyBits.toFixed(2)} bits of ${Math.log2(vocabulary).toFixed(2)}`;

function beatsOf(trace: JourneyTrace): (Beat & Shown)[] {
  const { nextToken, nextTokenTrained, training } = trace;
  const untrained = { next: nextToken, weights: 'miniature, untrained weights' };
  const guess = {
    ...untrained,
    drawn: false,
    caption: `After the last layer: ${entropy(nextToken)}. The weights are untrained, so this is close to a guess, and shown as such.`,
    seconds: 4,
  };
  const steps = training?.runs[0].loss.length ?? 0;
  const after = {
    next: nextTokenTrained ?? nextToken,
    weights: nextTokenTrained === null ? untrained.weights : `miniature, after ${steps} steps of training`,
  };
  const sharpened = {
    ...after,
    drawn: false,
    caption: `The same stream after the short run (${training?.runs[0].name}): ${entropy(after.next)}. The run never saw a picture, and ${steps} steps are few.`,
    seconds: 5,
  };
  const { sampled, temperature, top } = after.next;
  const outside = top.every(({ label }) => label !== sampled) ? `, from outside the ${top.length}` : '';
  const draw = {
    ...after,
    drawn: true,
    caption: `One draw at temperature ${temperature} with the run's seed: "${tokenName(sampled)}"${outside}. It joins the stream, and the journey repeats.`,
    seconds: 4,
  };
  return nextTokenTrained === null ? [guess, draw] : [guess, sharpened, draw];
}

export function nextTokenScene(trace: JourneyTrace): Scene {
  const { stream, fullSize, nextToken, nextTokenTrained } = trace;
  const beats = beatsOf(trace);
  return {
    id: 'next-token',
    title: 'The distribution over the next token',
    story:
      'Sequence, depth and width have all been read. A last norm and one matrix turn the final state into a score per token, a softmax makes them probabilities, and one seeded draw sends the journey back to its beginning.',
    sources: nextTokenTrained === null ? ['miniature'] : ['miniature', 'training'],
    fullSize: [`the same head over ${fullSize.vocabulary.toLocaleString('en-US')} tokens`],
    beats,
    height: () => TOP + nextToken.top.length * BAR + 116,
    draw(pen, beat, f) {
      const shown = beats[beat];
      drawBars(pen, shown, stream.focus, shown.drawn ? 1 : part(f, 0, 0.8));
      if (shown.drawn) drawSampled(pen, shown, stream, part(f));
    },
  };
}
