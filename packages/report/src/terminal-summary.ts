/**
 * A summary for a terminal: a dozen lines, the measure's name beside every number, small bars for shares.
 * Knows nothing about the terminal but its width and whether it shows colours.
 */
import type { Summary } from '@epsim/results';
import { checkedWords, timeNote } from './key-figures.js';
import { formatValue } from './page/format.js';
import { phaseRows } from './summary-table.js';

export interface TerminalLook {
  /** Columns. Lines are wrapped to it at words where they can be. */
  readonly width: number;
  readonly colour: boolean;
  /** How rows were carried this time, where that is known; as the scenario asks otherwise. */
  readonly carriedBy?: { readonly transport: string; readonly workers: number };
}

/** Who carried the rows, out of timings.json; empty when nothing was carried or nothing is known. */
export function carriedBy(
  timings: Readonly<Record<string, unknown>> | null,
): Pick<TerminalLook, 'carriedBy'> {
  const { transport, workers } = timings ?? {};
  return typeof transport === 'string' && typeof workers === 'number'
    ? { carriedBy: { transport, workers } }
    : {};
}

const LABEL = 12;

/** Lines of text, ending with a newline. */
export function terminalSummary(summary: Summary, look: TerminalLook): string {
  const { model, cluster, routing, steps, load, ranks, timed } = summary;
  const ratio = (value: number) => formatValue(value, 'ratio');
  const bold = (text: string) => (look.colour ? `\u001b[1m${text}\u001b[0m` : text);
  const lines = [
    bold(summary.scenario),
    ...entry(
      look,
      'run',
      `${model.name}, ${model.expertCount} experts, top-${model.topK}; ${cluster.name}, ${cluster.rankCount} ranks; ${routing.policy} routing; seed ${summary.seed}`,
    ),
    ...entry(
      look,
      '',
      `${steps.finished} of ${steps.asked} steps, ${summary.layers} layers, ${formatValue(summary.tokens.total, 'count')} tokens${summary.tokens.padded > 0 ? `, ${formatValue(summary.tokens.padded, 'count')} padded rows` : ''}`,
    ),
    ...entry(
      look,
      'experts',
      `MaxVio ${ratio(load.maxVio)} (last step ${ratio(load.lastStep.maxVio)}, floor ${ratio(load.maxVioFloor)}), max/mean ${ratio(load.maxOverMean)}, ${ratio(load.starvedExperts)} without a token`,
    ),
    ...entry(
      look,
      'ranks',
      `max/mean ${ratio(ranks.maxOverMean)} (worst layer ${ratio(ranks.worst.maxOverMean)}), mean/max ${ratio(ranks.meanOverMax)}, (max-mean)/mean ${ratio(ranks.maxMinusMeanOverMean)}`,
    ),
    ...baselineLines(summary, look),
    ...entry(
      look,
      'routing',
      `score retention ${ratio(routing.scoreRetention)}, ${formatValue(routing.dropped, 'count')} choices dropped`,
    ),
    ...bytesLines(summary, look),
    ...(timed === null
      ? []
      : entry(look, 'time', `${formatValue(timed.stepNs, 'ns')} a step, ${timeNote(timed)}`)),
    ...phaseLines(summary, look),
    ...entry(look, 'carried', carriedText(summary, look)),
    ...summary.notes.flatMap((note, i) => entry(look, i === 0 ? 'notes' : '', note)),
  ];
  return `${lines.join('\n')}\n`;
}

function baselineLines({ baseline }: Summary, look: TerminalLook): string[] {
  if (baseline === null) return [];
  const ratio = (value: number) => formatValue(value, 'ratio');
  const time = baseline.stepNs === null ? '' : `, ${formatValue(baseline.stepNs, 'ns')} a step`;
  return entry(
    look,
    'baseline',
    `${baseline.policy} on the same tokens: MaxVio ${ratio(baseline.load.maxVio)} (last step ${ratio(baseline.load.lastStepMaxVio)}), max/mean over ranks ${ratio(baseline.ranks.maxOverMean)}${time}`,
  );
}

function bytesLines({ bytes }: Summary, look: TerminalLook): string[] {
  const total = bytes.dispatch + bytes.combine;
  const tiers = [
    ['scale-up', bytes.scaleUp],
    ['scale-out', bytes.scaleOut],
    ['local', bytes.local],
  ] as const;
  const head = `${formatValue(total, 'bytes')}, ${formatValue(bytes.perToken, 'bytes')} per token and layer, ${formatValue(bytes.dedupRatio, 'ratio')} rows per choice`;
  return [
    ...entry(look, 'bytes', head),
    ...tiers.map(([name, value]) =>
      barLine(look, name, total === 0 ? 0 : value / total, formatValue(value, 'bytes')),
    ),
  ];
}

function phaseLines(summary: Summary, look: TerminalLook): string[] {
  return phaseRows(summary).map(({ phase, ns, share, provenance, relErrorBar }) => {
    const bar = relErrorBar === null ? ', unscored' : ` ± ${formatValue(relErrorBar, 'fraction')}`;
    return barLine(look, phase, share, `${formatValue(ns, 'ns').padStart(8)}  ${provenance}${bar}`);
  });
}

function carriedText({ carried }: Summary, look: TerminalLook): string {
  if (carried.transport === null) return 'nothing; counts and time only';
  const { transport, workers } = look.carriedBy ?? carried;
  const scaled =
    carried.expertInnerSize === carried.fullExpertInnerSize
      ? ''
      : `, experts scaled to inner size ${carried.expertInnerSize} of ${carried.fullExpertInnerSize}`;
  const error =
    carried.maxRelError === null
      ? ''
      : `: largest relative error ${formatValue(carried.maxRelError, 'ratio')}`;
  return `${formatValue(carried.tokens, 'count')} tokens by ${transport}, ${workers} worker${workers === 1 ? '' : 's'}, ${checkedWords(carried)}${error}${scaled}`;
}

/** A share as a bar of eighths, then words, at most `width` columns where the words are short. */
function barLine({ width, colour }: TerminalLook, label: string, share: number, words: string): string {
  const name = label.length > 15 ? `  ${label.slice(0, 14)}… ` : `  ${label}`.padEnd(18);
  const room = Math.min(24, Math.max(4, width - 57));
  const bar = unicodeBar(share, room);
  const painted = colour ? `\u001b[36m${bar}\u001b[0m` : bar;
  return `${name}${painted} ${formatValue(share, 'fraction').padStart(7)}  ${words}`.trimEnd();
}

/** `share` of `room` columns in blocks of an eighth, padded to `room`. */
function unicodeBar(share: number, room: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, share)) * room * 8);
  const part = eighths % 8 === 0 ? '' : '▏▎▍▌▋▊▉'[(eighths % 8) - 1];
  return ('█'.repeat(Math.floor(eighths / 8)) + part).padEnd(room);
}

/** A label and its text, wrapped at words, continued under the text. */
function entry({ width, colour }: TerminalLook, label: string, text: string): string[] {
  const room = Math.max(24, width - LABEL);
  const rows: string[] = [];
  for (const word of text.split(' ')) {
    const last = rows[rows.length - 1];
    if (last !== undefined && last.length + 1 + word.length <= room)
      rows[rows.length - 1] = `${last} ${word}`;
    else rows.push(word);
  }
  return rows.map((row, i) => {
    const head = (i === 0 ? label : '').padEnd(LABEL);
    return `${colour ? `\u001b[2m${head}\u001b[0m` : head}${row}`;
  });
}
