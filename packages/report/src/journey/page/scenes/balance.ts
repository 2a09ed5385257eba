/** Scene: load of every expert before and after quantile balancing of a frozen batch. */
import type { BalancePart, JourneyTrace } from '../../trace.js';
import { between, box, heading, lineTo, ownerTag, type Pen, part } from '../pen.js';
import { plural, type Scene } from '../scene.js';

/** Of a row of bars, at least and at most; and all around the rows. */
const LOAD_HEIGHT = 120;
const TALL_LOADS = 260;
const REST = 56 + 26;
const loadRows = (width: number, count: number) => Math.ceil((count * (count > 300 ? 1.75 : 2.6)) / width);

const heightOf = (p: BalancePart, width: number) =>
  REST + loadRows(width, p.rounds[0].loads.length) * LOAD_HEIGHT;

function drawLoads(
  pen: Pen,
  p: BalancePart,
  kind: 'mini' | 'full',
  round: number,
  f: number,
  height: number,
): void {
  const count = p.rounds[0].loads.length;
  const rows = loadRows(pen.width, count);
  const rowHeight = Math.min(TALL_LOADS, (height - REST) / rows);
  const perRow = Math.ceil(count / rows);
  const w = pen.width / perRow;
  const mean = (p.tokens * p.topK) / count;
  const from = p.rounds[Math.max(0, round - 1)];
  const to = p.rounds[round];
  const at = round === 0 ? 1 : part(f, 0.1, 0.8);
  const grown = round === 0 ? part(f, 0, 0.7) : 1;
  // The scale moves with the busiest expert, so that small differences are seen once large ones are gone.
  const most = between(Math.max(...from.loads), Math.max(...to.loads), at);
  ownerTag(
    pen,
    0,
    kind === 'mini' ? `miniature · ${p.model}` : 'Kimi K3 · full size · synthetic scores',
    kind,
  );
  heading(pen, 0, 44, `tokens of each of ${count} experts; the line is the mean, ${Number(mean.toFixed(2))}`);
  to.loads.forEach((load, expert) => {
    const base = 52 + (Math.floor(expert / perRow) + 1) * rowHeight - 6;
    const value = between(from.loads[expert], load, at) * grown;
    const h = ((rowHeight - 16) * value) / most;
    box(pen, (expert % perRow) * w, base - h, w > 2 ? w - 1 : w * 0.8, h, {
      fill:
        value > 1.5 * mean ? pen.colours.glow : value < 0.5 * mean ? pen.colours.muted : pen.colours.parts[0],
    });
  });
  for (let row = 0; row < rows; row++) {
    const base = 52 + (row + 1) * rowHeight - 6;
    const y = base - ((rowHeight - 16) * mean) / most;
    lineTo(pen, 0, y, pen.width, y, pen.colours.good, { thick: 1.5, dash: [5, 4] });
    lineTo(pen, 0, base + 0.5, pen.width, base + 0.5, pen.colours.line);
  }
  const said = `MaxVio ${to.maxVio.toFixed(2)} · busiest ${Math.max(...to.loads)} · ${to.starved} without a token`;
  heading(pen, 0, 52 + rows * rowHeight + 18, said, pen.colours.text);
}

export function balanceScene(trace: JourneyTrace): Scene {
  const { balance: mini, fullSizeBalance: full } = trace;
  const last = (p: BalancePart) => p.rounds[p.rounds.length - 1];
  const caption = (p: BalancePart, round: number, who: string) => {
    const { maxVio, starved } = p.rounds[round];
    return round === 0
      ? `${who}: without a bias the busiest expert has ${(maxVio + 1).toFixed(2)} times the mean load, and ${plural(starved, 'expert')} of ${p.rounds[0].loads.length} get nothing (${p.tokens} tokens, ${p.topK} choices each).`
      : `${who}, round ${round}: each expert's bias is the quantile of its score gaps that lets in just its share. MaxVio ${p.rounds[round - 1].maxVio.toFixed(2)} → ${maxVio.toFixed(2)}.`;
  };
  const fullBeats = [0, full.rounds.length - 1];
  const height = (width: number) => Math.max(heightOf(mini, width), heightOf(full, width));
  return {
    id: 'balance',
    title: 'Load before and after quantile balancing',
    story:
      'Left alone, a router overloads a few experts and starves others. Quantile balancing does not creep towards balance by fixed steps: it reads off, for every expert, the bias at which exactly its share of tokens would have been admitted.',
    sources: ['calibration', 'fullSizePlan'],
    fullSize: [
      `one round per training step at full size; the bias of the last step is frozen for inference`,
      `on ${full.tokens} tokens of synthetic scores: MaxVio ${full.rounds[0].maxVio.toFixed(2)} without bias, ${last(full).maxVio.toFixed(2)} after ${full.rounds.length - 1} rounds`,
    ],
    beats: [
      ...mini.rounds.map((_, round) => ({ caption: caption(mini, round, 'Miniature'), seconds: 3.2 })),
      { caption: caption(full, 0, 'Full size, another run'), seconds: 3.5 },
      {
        caption: `Full size: after ${full.rounds.length - 1} rounds MaxVio ${full.rounds[0].maxVio.toFixed(2)} → ${last(full).maxVio.toFixed(2)}; ${plural(last(full).starved, 'expert')} without a token.`,
        seconds: 4,
      },
    ],
    height,
    draw(pen, beat, f) {
      if (beat < mini.rounds.length) drawLoads(pen, mini, 'mini', beat, f, height(pen.width));
      else {
        const to = fullBeats[beat - mini.rounds.length];
        const shown = { ...full, rounds: to === 0 ? [full.rounds[0]] : [full.rounds[0], full.rounds[to]] };
        drawLoads(pen, shown, 'full', to === 0 ? 0 : 1, f, height(pen.width));
      }
    },
  };
}
