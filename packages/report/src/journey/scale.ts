/**
 * Mechanisms of a model at full size, what a context costs, and two models side by side: as data, as Markdown
 * tables for documents, and as charts. Nothing here was run: every figure is computed from published sizes.
 */
import type { Ledger } from '@epsim/results';
import type { ChartMaker, Series } from '../chart-spec.js';
import { markdownTable } from '../markdown.js';
import { formatValue, type Unit } from '../page/format.js';

export interface MechanismRow {
  readonly mechanism: string;
  readonly file: string;
  readonly check: string;
  readonly layers: number;
  readonly params: number;
  /** For one text token in decode; null where nothing is computed for it. */
  readonly flops: number | null;
  readonly bytes: number | null;
  readonly kernels: number | null;
  /** What it keeps, in words with figures. */
  readonly state: string;
}

export interface ContextRow {
  readonly tokens: number;
  /**
   * Bytes that a sequence of so many tokens keeps; FLOPs of attention proper to read it all, and for one token more.
   * With ordinary softmax attention in every layer, latent attention in every layer, and as the model is.
   */
  readonly softmaxBytes: number;
  readonly latentBytes: number;
  readonly modelBytes: number;
  readonly softmaxPrefill: number;
  readonly latentPrefill: number;
  readonly modelPrefill: number;
  readonly softmaxNext: number;
  readonly latentNext: number;
  readonly modelNext: number;
}

export interface Scale {
  readonly model: string;
  /** Tokens of the sequence whose next token is costed in `mechanisms`. */
  readonly contextTokens: number;
  readonly mechanisms: readonly MechanismRow[];
  readonly context: readonly ContextRow[];
  readonly ledger: Ledger;
}

const tokensName = (tokens: number) =>
  tokens >= 2 ** 20 ? `${tokens / 2 ** 20} M` : `${tokens / 2 ** 10} K`;

const amount = (value: number | null, unit: Unit) => (value === null ? '' : formatValue(value, unit));

/** FLOPs beyond what parameters are counted in: peta and exa. */
function flopsText(value: number): string {
  if (value >= 1e18) return `${Number((value / 1e18).toPrecision(3))} E`;
  return value >= 1e15 ? `${Number((value / 1e15).toPrecision(3))} P` : formatValue(value, 'count');
}

/** Mechanism, file and check, and its cost at full size. */
export function mechanismsMarkdown(scale: Scale): string {
  const rows = scale.mechanisms.map((row) => [
    row.mechanism,
    `\`${row.file}\``,
    `\`${row.check}\``,
    row.layers === 0 ? '' : String(row.layers),
    amount(row.params === 0 ? null : row.params, 'count'),
    amount(row.flops, 'count'),
    amount(row.bytes, 'bytes'),
    row.kernels === null ? '' : String(row.kernels),
    row.state,
  ]);
  const head = ['mechanism', 'file', 'check', 'layers', 'parameters', 'FLOPs', 'bytes', 'kernels', 'state'];
  return markdownTable(head, rows, [0, 1, 2, 8]);
}

export function contextMarkdown(scale: Scale): string {
  const rows = scale.context
    .filter((_, i) => i % 2 === 0)
    .map((row) => [
      tokensName(row.tokens),
      ...[row.softmaxBytes, row.latentBytes, row.modelBytes].map((value) => formatValue(value, 'bytes')),
      ...[row.softmaxPrefill, row.latentPrefill, row.modelPrefill].map(flopsText),
      ...[row.softmaxNext, row.latentNext, row.modelNext].map(flopsText),
    ]);
  const kinds = ['softmax', 'latent', scale.model];
  const head = ['kept', 'FLOPs to read all', 'FLOPs of the next'].flatMap((what) =>
    kinds.map((kind) => `${what}: ${kind}`),
  );
  return markdownTable(['tokens', ...head], rows);
}

function contextChart(
  summary: string,
  key: 'Bytes' | 'Prefill',
  file: `${string}.png`,
  title: (last: ContextRow) => string,
  label: string,
  unit: Unit,
  divisor: number,
): ChartMaker<Scale> {
  return {
    summary,
    file,
    spec(scale) {
      const xs = scale.context.map((row) => row.tokens);
      const line = (name: string, colour: number, kind: 'softmax' | 'latent' | 'model'): Series => ({
        name,
        mark: 'line',
        colour,
        xs,
        values: scale.context.map((row) => row[`${kind}${key}`] / divisor),
      });
      return {
        kind: 'xy',
        title: title(scale.context[scale.context.length - 1]),
        subtitle: `${scale.model} at full size, computed from its sizes; caches in 16 bits, states in 32`,
        x: { label: 'tokens of the sequence, logarithmic', unit: 'count', log: true },
        y: { label, unit, log: true },
        series: [
          line('softmax attention in every layer, keys and values kept', 1, 'softmax'),
          line('latent attention in every layer', 4, 'latent'),
          line(`${scale.model}: three of four layers keep a state of fixed size`, 0, 'model'),
        ],
      };
    },
  };
}

export const scaleCharts = {
  'context-bytes': contextChart(
    'what one sequence keeps, by its length',
    'Bytes',
    'context-bytes.png',
    (last) =>
      `A sequence of ${tokensName(last.tokens)} tokens keeps ${formatValue(last.modelBytes, 'bytes')}, not ${formatValue(last.softmaxBytes, 'bytes')}`,
    'bytes kept for one sequence, logarithmic',
    'bytes',
    1,
  ),
  'context-flops': contextChart(
    'what reading it costs in attention, by its length',
    'Prefill',
    'context-flops.png',
    (last) =>
      `Attention reads ${tokensName(last.tokens)} tokens with ${formatValue(last.modelPrefill / last.softmaxPrefill, 'fraction')} of softmax attention's FLOPs`,
    'TFLOPs of attention for the whole sequence, logarithmic',
    'count',
    1e12,
  ),
} as const satisfies Record<string, ChartMaker<Scale>>;
