/** Scene: what was gathered becomes a distribution over the next token. */
import type { JourneyTrace } from '../../trace.js';
import { box, dot, heading, lineTo, type Pen, part, words } from '../pen.js';
import { type Beat, type Scene, tokenName } from '../scene.js';

const BAR = 24;

/** What the scene's pictures and words are made from, computed once. */
function nextTokenView(trace: JourneyTrace) {
  const { nextToken: next, stream, fullSize } = trace;
  const { top } = next;
  const percent = (value: number) => `${(100 * value).toFixed(2)} %`;
  const place = top.findIndex(({ label }) => label === next.sampled);
  const left = 46;
  return { next, stream, fullSize, top, percent, place, left };
}

type NextTokenView = ReturnType<typeof nextTokenView>;

function drawBars(view: NextTokenView, pen: Pen, grown: number, drawn: number) {
  const { next, stream, top, percent, place, left } = view;
  const scale = (pen.width - left - 70) / top[0].probability;
  heading(pen, 0, 12, `the ${top.length} likeliest of ${next.vocabulary} tokens after row ${stream.focus}`);
  top.forEach(({ label, probability }, i) => {
    const y = 26 + i * BAR;
    const chosen = i === place && drawn > 0;
    words(pen, left - 12, y + 15, tokenName(label), { size: 15, mono: true, align: 'right', bold: chosen });
    const w = probability * scale * grown;
    box(pen, left, y, w, BAR - 6, { fill: chosen ? pen.colours.glow : pen.colours.parts[0], radius: 3 });
    words(pen, left + w + 8, y + 14, percent(probability * grown), { size: 12, colour: pen.colours.muted });
  });
  const even = left + scale / next.vocabulary;
  const bottom = 26 + top.length * BAR;
  lineTo(pen, even, 22, even, bottom, pen.colours.muted, { dash: [4, 4] });
  words(pen, even, bottom + 14, `all equal: ${percent(1 / next.vocabulary)}`, {
    size: 11.5,
    colour: pen.colours.muted,
  });
  words(
    pen,
    0,
    bottom + 38,
    `the other ${next.vocabulary - top.length} together: ${percent(next.restProbability)}`,
    {
      size: 12.5,
    },
  );
}

function drawSampled(view: NextTokenView, pen: Pen, f: number) {
  const { next, stream, top } = view;
  const y = 26 + top.length * BAR + 78;
  const tail = stream.tokens.slice(Math.max(0, stream.focus - 11), stream.focus + 1);
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

function nextTokenBeats(view: NextTokenView): Beat[] {
  const { next, place } = view;
  return [
    {
      caption: `After the last layer: entropy ${next.entropyBits.toFixed(2)} bits of ${Math.log2(next.vocabulary).toFixed(2)}. The weights are untrained, so this is close to a guess, and shown as such.`,
      seconds: 4,
    },
    {
      caption: `One draw at temperature ${next.temperature} with the run's seed: "${tokenName(next.sampled)}"${place < 0 ? ', from outside the twelve' : ''}. It joins the stream, and the journey repeats.`,
      seconds: 4,
    },
  ];
}

export function nextTokenScene(trace: JourneyTrace): Scene {
  const view = nextTokenView(trace);
  const { fullSize, top } = view;
  return {
    id: 'next-token',
    title: 'The distribution over the next token',
    story:
      'Sequence, depth and width have all been read. A last norm and one matrix turn the final state into a score per token, a softmax makes them probabilities, and one seeded draw sends the journey back to its beginning.',
    sources: ['miniature'],
    fullSize: [`the same head over ${fullSize.vocabulary.toLocaleString('en-US')} tokens`],
    beats: nextTokenBeats(view),
    height: () => 26 + top.length * BAR + 100,
    draw(pen, beat, f) {
      drawBars(view, pen, beat === 0 ? part(f, 0, 0.8) : 1, beat);
      if (beat === 1) drawSampled(view, pen, part(f));
    },
  };
}
