/** Scene: scores of all experts, the threshold, the chosen, the ranks they live on and the bytes that travel. */
import { formatValue } from '../../../page/format.js';
import type { JourneyTrace, WidthPart } from '../../trace.js';
import { between, box, dot, heading, lineTo, ownerTag, type Pen, part, words } from '../pen.js';
import { plural, type Scene, WIDE } from '../scene.js';

/** Of a row of bars, at least and at most. */
const SCORE_HEIGHT = 74;
const TALL_SCORES = 222;
/** Between two rows of ranks. */
const LANE = 14;
const RANK_HEIGHT = 62;

/** Rows of bars that `count` experts need at this width. */
const scoreRows = (width: number, count: number) => Math.ceil((count * (count > 300 ? 1.75 : 2.6)) / width);

const ranksPerRow = (width: number, count: number) =>
  width >= WIDE ? Math.min(8, count) : Math.min(4, count);

const bytesOf = (value: number) => `${value.toLocaleString('en-US')} B`;

const perToken = (p: WidthPart, rows: number) => rows * (p.dispatchRowBytes + p.combineRowBytes);

/** All but the bars, and the whole with bars of the least height. */
function heightsOf(p: WidthPart, width: number): { readonly rest: number; readonly whole: number } {
  const ranks = Math.ceil(p.rankCount / ranksPerRow(width, p.rankCount)) * (RANK_HEIGHT + LANE);
  const rest = 30 + 20 + 40 + ranks + 20;
  return { rest, whole: rest + scoreRows(width, p.biased.length) * SCORE_HEIGHT };
}

/** A part drawn into a picture of `height`: its rows of bars share what is left. */
interface Drawn {
  readonly p: WidthPart;
  readonly scoreHeight: number;
}

function drawnIn(p: WidthPart, width: number, height: number): Drawn {
  const share = (height - heightsOf(p, width).rest) / scoreRows(width, p.biased.length);
  return { p, scoreHeight: Math.min(TALL_SCORES, share) };
}

/** Bars of score + bias; `settled` lets the unchosen fade. */
function drawScores(pen: Pen, { p, scoreHeight }: Drawn, grown: number, settled: number): void {
  const count = p.biased.length;
  const rows = scoreRows(pen.width, count);
  const perRow = Math.ceil(count / rows);
  const low = Math.min(...p.biased);
  const high = Math.max(...p.biased);
  const w = pen.width / perRow;
  const tall = (value: number) => ((scoreHeight - 18) * (value - low + 0.02)) / (high - low + 0.02);
  const chosen = new Set(p.chosen.map(({ expert }) => expert));
  heading(
    pen,
    0,
    44,
    `score + bias of ${count} experts${settled > 0 ? `; threshold ${p.threshold.toFixed(4)}` : ''}`,
  );
  p.biased.forEach((value, expert) => {
    const base = 50 + (Math.floor(expert / perRow) + 1) * scoreHeight - 4;
    const x = (expert % perRow) * w;
    const own = chosen.has(expert);
    const h = tall(value) * grown;
    const wide = Math.max(w > 2 ? w - 1 : w * 0.8, own ? 2 : 0);
    box(pen, x, base - h, wide, h, {
      fill: own && settled > 0 ? pen.colours.glow : pen.colours.parts[0],
      alpha: own ? 1 : 1 - 0.6 * settled,
    });
  });
  for (let row = 0; row < rows && settled > 0; row++) {
    const y = 50 + (row + 1) * scoreHeight - 4 - tall(p.threshold);
    lineTo(pen, 0, y, pen.width * settled, y, pen.colours.glow, { dash: [5, 4] });
  }
}

function rankPlace(pen: Pen, { p, scoreHeight }: Drawn, rank: number) {
  const perRow = ranksPerRow(pen.width, p.rankCount);
  const w = (pen.width - 8 * (perRow - 1)) / perRow;
  const top = 50 + scoreRows(pen.width, p.biased.length) * scoreHeight + 34;
  return { x: (rank % perRow) * (w + 8), y: top + Math.floor(rank / perRow) * (RANK_HEIGHT + LANE), w };
}

function drawRanks(pen: Pen, drawn: Drawn, shown: number): void {
  const { p } = drawn;
  const { y: top } = rankPlace(pen, drawn, 0);
  heading(
    pen,
    0,
    top - 10,
    `${p.rankCount} ranks of ${p.rankCount * p.expertsPerRank === p.biased.length ? '' : 'at most '}${p.expertsPerRank} experts; our token is on rank ${p.sourceRank}`,
  );
  for (let rank = 0; rank < p.rankCount; rank++) {
    const { x, y, w } = rankPlace(pen, drawn, rank);
    const own = p.chosen.filter((choice) => choice.rank === rank);
    const home = rank === p.sourceRank;
    box(pen, x + 1, y, w - 2, RANK_HEIGHT, {
      stroke: home ? pen.colours.glow : own.length > 0 ? pen.colours.mini : pen.colours.line,
      radius: 6,
      thick: home || own.length > 0 ? 2 : 1,
      alpha: shown,
    });
    words(pen, x + 8, y + 17, `rank ${rank}`, { size: 12, bold: own.length > 0, alpha: shown });
    const ids = own.map(({ expert }) => expert);
    const lines = ids.length <= 1 ? [ids.join('')] : [ids.slice(0, 2).join(' '), ids.slice(2).join(' ')];
    lines.forEach((line, i) => {
      const text = line.length * 6.6 > w - 12 ? `${line.split(' ')[0]} +${line.split(' ').length - 1}` : line;
      words(pen, x + 8, y + 36 + i * 16, text, {
        size: 11.5,
        mono: true,
        colour: pen.colours.mini,
        alpha: shown,
      });
    });
  }
}

/** From the home rank to another, in the lanes between rows of ranks and the gaps between columns. */
function wayTo(home: ReturnType<typeof rankPlace>, to: ReturnType<typeof rankPlace>) {
  const [x1, x2] = [home.x + 0.75 * home.w, to.x + 0.75 * to.w];
  const up = to.y < home.y;
  const lane = (y: number, above: boolean) => (above ? y - LANE + 6 : y + RANK_HEIGHT + 6);
  const [first, last] = [lane(home.y, up), lane(to.y, to.y > home.y)];
  const gap = to.x > 8 ? to.x - 4 : to.x + to.w + 4;
  const across: readonly (readonly [number, number])[] =
    Math.abs(first - last) < 1
      ? []
      : [
          [gap, first],
          [gap, last],
        ];
  return [
    [x1, up ? home.y + 10 : home.y + RANK_HEIGHT - 10] as const,
    [x1, first] as const,
    ...across,
    [x2, last] as const,
    [x2, to.y > home.y ? to.y : to.y + RANK_HEIGHT] as const,
  ];
}

/** Rows on their way: 0 at home, 1 at the ranks of the chosen experts. */
function drawRows(pen: Pen, drawn: Drawn, at: number): void {
  const { p } = drawn;
  const home = rankPlace(pen, drawn, p.sourceRank);
  for (const rank of new Set(p.chosen.map((choice) => choice.rank))) {
    const way =
      rank === p.sourceRank
        ? [[home.x + 0.75 * home.w, home.y + RANK_HEIGHT - 10] as const]
        : wayTo(home, rankPlace(pen, drawn, rank));
    way.slice(1).forEach(([x, y], i) => {
      lineTo(pen, way[i][0], way[i][1], x, y, pen.colours.glow, { dash: [3, 3] });
    });
    dot(pen, ...alongWay(way, at), 4.5);
  }
}

/** The point at a share of a broken line's length. */
function alongWay(way: readonly (readonly [number, number])[], at: number): readonly [number, number] {
  const pieces = way.slice(1).map(([x, y], i) => Math.hypot(x - way[i][0], y - way[i][1]));
  let left = at * pieces.reduce((sum, length) => sum + length, 0);
  for (let i = 0; i < pieces.length; i++) {
    if (left <= pieces[i] || i === pieces.length - 1) {
      const share = pieces[i] === 0 ? 1 : Math.min(1, left / pieces[i]);
      return [between(way[i][0], way[i + 1][0], share), between(way[i][1], way[i + 1][1], share)];
    }
    left -= pieces[i];
  }
  return way[0];
}

function drawWidth(pen: Pen, drawn: Drawn, kind: 'mini' | 'full', phase: number, f: number): void {
  const { p } = drawn;
  ownerTag(
    pen,
    0,
    kind === 'mini' ? `miniature · ${p.model} · carried` : 'Kimi K3 · full size · planned',
    kind,
  );
  drawScores(pen, drawn, phase === 0 ? part(f, 0, 0.7) : 1, phase === 0 ? 0 : phase === 1 ? part(f) : 1);
  if (phase >= 2) drawRanks(pen, drawn, phase === 2 ? part(f, 0, 0.3) : 1);
  if (phase === 2) drawRows(pen, drawn, part(f, 0.3, 1));
  if (phase === 3) drawRows(pen, drawn, 1 - part(f));
}

function travelCaption(p: WidthPart): string {
  const each = `${plural(p.rows, 'row')} of ${p.rowElements} values`;
  return `${each} leave for the ranks of the chosen experts, ${bytesOf(p.dispatchRowBytes)} each; a rank gets a row once, however many of its experts were chosen (${p.rowsPerChoice} choices).`;
}

export function widthScene(trace: JourneyTrace): Scene {
  const { width: mini, fullSizeWidth: full, fullSize } = trace;
  const list = (p: WidthPart) =>
    p.chosen
      .slice(0, 4)
      .map(({ expert, weight }) => `${expert} (weight ${weight.toFixed(3)})`)
      .join(', ');
  const arrived =
    mini.carriedBytes === null
      ? ''
      : ` For the whole batch of ${mini.batchTokens} tokens ${bytesOf(mini.batchBytes)} were planned and ${bytesOf(mini.carriedBytes)} arrived.`;
  const height = (width: number) => Math.max(heightsOf(mini, width).whole, heightsOf(full, width).whole);
  return {
    id: 'width',
    title: 'Across the width: many specialists, few at work',
    story:
      'A router scores every expert for this token. A bias, fixed by now, is added for the choice alone; the best few pass the threshold. They live on different ranks, so the narrow row travels to them and their weighted sum travels back.',
    sources: ['miniature', 'fullSizePlan'],
    fullSize: [
      `${fullSize.expertCount} experts, ${fullSize.topK} chosen: one in ${fullSize.expertCount / fullSize.topK}, as in the miniature (${mini.biased.length} and ${mini.topK})`,
      `one row per choice would be ${bytesOf(perToken(full, full.rowsPerChoice))} a token and layer, out and back; this token's ${full.rows} distinct ranks need ${bytesOf(perToken(full, full.rows))}`,
    ],
    beats: [
      { caption: `Miniature: the router scores ${mini.biased.length} experts for our token.`, seconds: 3.5 },
      {
        caption: `Miniature: ${plural(mini.topK, 'expert')} pass the threshold ${mini.threshold.toFixed(4)}; the next best has ${mini.runnerUp.toFixed(4)}. Chosen: ${list(mini)}.`,
        seconds: 4,
      },
      { caption: `Miniature: ${travelCaption(mini)}`, seconds: 4.5 },
      {
        caption: `Miniature: the weighted sums come back, ${bytesOf(mini.combineRowBytes)} a row: ${bytesOf(perToken(mini, mini.rows))} for our token, out and back.${arrived}`,
        seconds: 4.5,
      },
      {
        caption: `Kimi K3 at full size, another run: ${full.biased.length} experts with synthetic scores.`,
        seconds: 3.5,
      },
      {
        caption: `Full size: ${full.topK} of ${full.biased.length} pass the threshold ${full.threshold.toFixed(4)}; the next best has ${full.runnerUp.toFixed(4)}.`,
        seconds: 4,
      },
      { caption: `Full size: ${travelCaption(full)}`, seconds: 4.5 },
      {
        caption: `Full size: the weighted sums come back, ${bytesOf(full.combineRowBytes)} a row: ${bytesOf(perToken(full, full.rows))} for this token and layer, out and back. The batch of ${full.batchTokens} tokens moves ${formatValue(full.batchBytes, 'bytes')}; planned, not carried.`,
        seconds: 4.5,
      },
    ],
    height,
    draw(pen, beat, f) {
      const drawn = (p: WidthPart) => drawnIn(p, pen.width, height(pen.width));
      if (beat < 4) drawWidth(pen, drawn(mini), 'mini', beat, f);
      else drawWidth(pen, drawn(full), 'full', beat - 4, f);
    },
  };
}
