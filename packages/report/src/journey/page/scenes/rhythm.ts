/** Scene: three recurrent layers, then one global read, again and again, and one more global read. */
import { formatValue } from '../../../page/format.js';
import type { JourneyTrace } from '../../trace.js';
import { between, box, dot, ownerTag, type Pen, part, words } from '../pen.js';
import { type Beat, plural, type Scene } from '../scene.js';

const BLOCK_HEIGHT = 74;

/** What the scene's pictures and words are made from, computed once. */
function rhythmView(trace: JourneyTrace) {
  const { layers, fullSize, model } = trace;
  const groups = Math.ceil(layers.length / 4);
  const most = Math.max(...layers.map((layer) => layer.mixerRms));
  const delta = layers.filter((layer) => layer.mixer === 'kda');
  const global = layers.filter((layer) => layer.mixer === 'mla');
  const colourOf = (pen: Pen, mixer: 'kda' | 'mla') => pen.colours.parts[mixer === 'kda' ? 0 : 1];
  return { layers, fullSize, model, groups, most, delta, global, colourOf };
}

type RhythmView = ReturnType<typeof rhythmView>;

function place(width: number, layer: number) {
  const w = (width - 32) / 4;
  return { x: 1 + (layer % 4) * (w + 10), y: 34 + Math.floor(layer / 4) * (BLOCK_HEIGHT + 12), w };
}

function drawLayer(view: RhythmView, pen: Pen, i: number, reached: number) {
  const { layers, most, colourOf } = view;
  const { x, y, w } = place(pen.width, i);
  const { mixer, ffn, mixerRms, keptFloats } = layers[i];
  const colour = colourOf(pen, mixer);
  box(pen, x, y, w, BLOCK_HEIGHT, {
    stroke: colour,
    radius: 6,
    thick: reached > 0 ? 2 : 1,
    alpha: 0.35 + 0.65 * reached,
  });
  words(pen, x + 8, y + 18, mixer === 'kda' ? 'KDA' : 'MLA', { bold: true, colour });
  const feed = ffn === 'dense' ? 'dense' : 'experts';
  const last = { size: 11, colour: pen.colours.muted };
  words(pen, x + w - 6, y + 18, pen.wide ? `layer ${i}, then ${feed}` : String(i), {
    ...last,
    align: 'right',
  });
  box(pen, x + 8, y + 28, w - 16, 8, { fill: pen.colours.line, radius: 2, alpha: 0.5 });
  box(pen, x + 8, y + 28, ((w - 16) * mixerRms * reached) / most, 8, { fill: colour, radius: 2 });
  words(pen, x + 8, y + 51, `${pen.wide ? 'adds rms ' : 'rms '}${mixerRms.toFixed(2)}`, {
    size: 11,
    alpha: reached,
  });
  words(
    pen,
    x + 8,
    y + 66,
    pen.wide ? `keeps ${keptFloats.toLocaleString('en-US')} floats` : `keeps ${keptFloats}`,
    {
      ...last,
      alpha: reached,
    },
  );
}

function drawFullSize(view: RhythmView, pen: Pen, f: number) {
  const { fullSize, groups, colourOf } = view;
  const y = 34 + groups * (BLOCK_HEIGHT + 12) + 8;
  ownerTag(pen, y, `Kimi K3 · full size · ${fullSize.layers} layers`, 'full');
  const columns = fullSize.groups + 1;
  const w = Math.min(30, pen.width / columns);
  for (let group = 0; group < columns; group++) {
    if (f * columns < group) break;
    const last = group === fullSize.groups;
    for (let i = last ? 3 : 0; i < 4; i++) {
      box(pen, group * w, y + 30 + i * 15, w - 3, 12, {
        fill: colourOf(pen, i === 3 ? 'mla' : 'kda'),
        radius: 2,
      });
    }
  }
  words(
    pen,
    0,
    y + 108,
    `(3 KDA + 1 MLA) x ${fullSize.groups}, then 1 MLA: ${fullSize.kdaLayers} KDA + ${fullSize.mlaLayers} MLA`,
    { size: 12, colour: pen.colours.muted },
  );
}

function groupCaption(view: RhythmView, group: number) {
  const { layers } = view;
  const own = layers.slice(group * 4, group * 4 + 4);
  const rms = own.map((layer) => layer.mixerRms.toFixed(2)).join(', ');
  return own.length === 4
    ? `Group ${group + 1}: three recurrent layers carry a state on, one global layer reads the whole prefix. For our token the mixers add rms ${rms}.`
    : `One more global read closes the stack; its mixer adds rms ${rms}.`;
}

function rhythmBeats(view: RhythmView): Beat[] {
  const { layers, fullSize, groups, delta, global } = view;
  return [
    ...Array.from({ length: groups }, (_, group) => ({
      caption: groupCaption(view, group),
      seconds: group * 4 + 4 <= layers.length ? 4.5 : 2.5,
    })),
    {
      caption: `The miniature has ${plural(delta.length, 'KDA layer')} and ${plural(global.length, 'MLA layer')}. Full-size K3 repeats the group ${fullSize.groups} times and reads globally once more: ${fullSize.layers} layers.`,
      seconds: 4,
    },
  ];
}

export function rhythmScene(trace: JourneyTrace): Scene {
  const view = rhythmView(trace);
  const { layers, fullSize, model, groups } = view;
  return {
    id: 'rhythm',
    title: 'Three recurrent layers, one global read',
    story:
      'A delta-attention layer (KDA) passes on a memory of fixed size. A latent-attention layer (MLA) can still look at every earlier token. Three of one, one of the other, and the pattern repeats.',
    sources: ['miniature', 'fullSizeShape'],
    fullSize: [
      `${fullSize.layers} layers: ${fullSize.groups} groups of three KDA and one MLA, and one more MLA`,
      `${formatValue(fullSize.paramCount, 'count')} parameters, ${formatValue(fullSize.activeParamCount, 'count')} of them at work for one token`,
    ],
    beats: rhythmBeats(view),
    height: () => 34 + groups * (BLOCK_HEIGHT + 12) + 128,
    draw(pen, beat, f) {
      ownerTag(pen, 0, `miniature · ${model} · ${layers.length} layers`, 'mini');
      const inGroup = Math.min(4, layers.length - 4 * Math.min(beat, groups - 1));
      const travelled = beat >= groups ? layers.length : 4 * beat + f * inGroup;
      layers.forEach((_, i) => {
        drawLayer(view, pen, i, part(travelled - i, 0, 0.6));
      });
      if (beat < groups) {
        const i = Math.min(layers.length - 1, Math.floor(Math.max(0, travelled - 1e-9)));
        const { x, y, w } = place(pen.width, i);
        dot(pen, between(x + 8, x + w - 8, travelled - i), y + 32, 5);
      } else drawFullSize(view, pen, f);
    },
  };
}
