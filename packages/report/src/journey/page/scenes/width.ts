/** Scene: scores of all experts, the threshold, the chosen, the ranks they live on and the bytes that travel. */
import { formatValue } from '../../../page/format.js';
import type { JourneyTrace, WidthPart } from '../../trace.js';
import { between, box, dot, heading, lineTo, ownerTag, type Pen, part, words } from '../pen.js';
import { plural, type Scene, WIDE } from '../scene.js';

const SCORE_HEIGHT = 74;
const RANK_HEIGHT = 62;

/** Rows of bars that `count` experts need at this width. */
const scoreRows = (width: number, count: number) => Math.ceil((count * (count > 300 ? 1.75 : 2.6)) / width);

const ranksPerRow = (width: number, count: number) =>
  width >= WIDE ? Math.min(8, count) : Math.min(4, count);

const bytesOf = (value: number) => `${value.toLocaleString('en-US')} B`;

const perToken = (p: WidthPart, rows: number) => rows * (p.dispatchRowBytes + p.combineRowBytes);

function widthHeight(p: WidthPart, width: number): number {
  const scores = scoreRows(width, p.biased.length) * SCORE_HEIGHT;
  const ranks = Math.ceil(p.rankCount / ranksPerRow(width, p.rankCount)) * (RANK_HEIGHT + 14);
  return 30 + 20 + scores + 40 + ranks + 20;
}

/** Bars of score + bias; `settled` lets the unchosen fade. */
function drawScores(pen: Pen, p: WidthPart, grown: number, settled: number): void {
  const count = p.biased.length;
  const rows = scoreRows(pen.width, count);
  const perRow = Math.ceil(count / rows);
  const low = Math.min(...p.biased);
  const high = Math.max(...p.biased);
  const w = pen.width / perRow;
  const tall = (value: number) => ((SCORE_HEIGHT - 18) * (value - low + 0.02)) / (high - low + 0.02);
  const chosen = new Set(p.chosen.map(({ expert }) => expert));
  heading(
    pen,
    0,
    44,
    `score + bias of ${count} experts${settled > 0 ? `; threshold ${p.threshold.toFixed(4)}` : ''}`,
  );
  p.biased.forEach((value, expert) => {
    const base = 50 + (Math.floor(expert / perRow) + 1) * SCORE_HEIGHT - 4;
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
    const y = 50 + (row + 1) * SCORE_HEIGHT - 4 - tall(p.threshold);
    lineTo(pen, 0, y, pen.width * settled, y, pen.colours.glow, { dash: [5, 4] });
  }
}

function rankPlace(pen: Pen, p: WidthPart, rank: number) {
  const perRow = ranksPerRow(pen.width, p.rankCount);
  const w = (pen.width - 8 * (perRow - 1)) / perRow;
  const top = 50 + scoreRows(pen.width, p.biased.length) * SCORE_HEIGHT + 34;
  return { x: (rank % perRow) * (w + 8), y: top + Math.floor(rank / perRow) * (RANK_HEIGHT + 14), w };
}

function drawRanks(pen: Pen, p: WidthPart, shown: number): void {
  const { y: top } = rankPlace(pen, p, 0);
  heading(
    pen,
    0,
    top - 10,
    `${p.rankCount} ranks of ${p.rankCount * p.expertsPerRank === p.biased.length ? '' : 'at most '}${p.expertsPerRank} experts; our token is on rank ${p.sourceRank}`,
  );
  for (let rank = 0; rank < p.rankCount; rank++) {
    const { x, y, w } = rankPlace(pen, p, rank);
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

/** Rows on their way: 0 at home, 1 at the ranks of the chosen experts, along the gap below the home rank's line. */
function drawRows(pen: Pen, p: WidthPart, at: number): void {
  const home = rankPlace(pen, p, p.sourceRank);
  const lane = home.y + RANK_HEIGHT + 6;
  for (const rank of new Set(p.chosen.map((choice) => choice.rank))) {
    const to = rankPlace(pen, p, rank);
    const [x1, x2] = [home.x + home.w / 2, to.x + to.w / 2];
    const y2 = to.y > lane ? to.y : to.y + RANK_HEIGHT;
    const way: readonly (readonly [number, number])[] =
      rank === p.sourceRank
        ? [[x1, home.y + RANK_HEIGHT - 10]]
        : [
            [x1, home.y + RANK_HEIGHT - 10],
            [x1, lane],
            [x2, lane],
            [x2, y2],
          ];
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

function drawWidth(pen: Pen, p: WidthPart, kind: 'mini' | 'full', phase: number, f: number): void {
  ownerTag(
    pen,
    0,
    kind === 'mini' ? `miniature · ${p.model} · carried` : 'Kimi K3 · full size · planned',
    kind,
  );
  drawScores(pen, p, phase === 0 ? part(f, 0, 0.7) : 1, phase === 0 ? 0 : phase === 1 ? part(f) : 1);
  if (phase >= 2) drawRanks(pen, p, phase === 2 ? part(f, 0, 0.3) : 1);
  if (phase === 2) drawRows(pen, p, part(f, 0.3, 1));
  if (phase === 3) drawRows(pen, p, 1 - part(f));
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
        caption: `Miniature: the weighted sums come back, ${bytesOf(mini.combineRowBytes)} a row: ${bytesOf(perToken(mini, mini.rows))} for our token.${arrived}`,
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
        caption: `Full size: ${bytesOf(full.combineRowBytes)} a row come back: ${bytesOf(perToken(full, full.rows))} for this token and layer. The batch of ${full.batchTokens} tokens moves ${formatValue(full.batchBytes, 'bytes')}; planned, not carried.`,
        seconds: 4.5,
      },
    ],
    height: (width) => Math.max(widthHeight(mini, width), widthHeight(full, width)),
    draw(pen, beat, f) {
      if (beat < 4) drawWidth(pen, mini, 'mini', beat, f);
      else drawWidth(pen, full, 'full', beat - 4, f);
    },
  };
}
