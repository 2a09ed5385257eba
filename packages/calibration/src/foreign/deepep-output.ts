/**
 * What DeepEP's own tests print: test_low_latency.py a line per rank, test_intranode.py and test_internode.py
 * the best configuration of each direction. Sizes stand in a "[config]" line where the test prints one, else
 * they are the tests' defaults. The system is told by the file's name.
 */
import type { CsvTable } from '../csv.js';
import { type ForeignReader, tableOf } from './foreign-reader.js';

const RANK_LINE =
  /\[rank (\d+)\][^\n]*?Dispatch bandwidth: [\d.]+ GB\/s, avg_t=([\d.]+) us[^\n]*?Combine bandwidth: [\d.]+ GB\/s, avg_t=([\d.]+) us/g;
const BEST_LINE = /Best (dispatch|combine)( \(FP8\)| \(BF16\))?:[^\n]*/g;
const BANDWIDTH = /([\d.]+) GB\/s \((RDMA|NVL)\)/g;

/** Defaults of the tests: test_low_latency.py. */
const DEFAULTS = { num_tokens: '128', hidden: '7168', num_topk: '8', num_experts: '288' };

/** A size from the text, "num_tokens=128" or "num_tokens: 128", else the test's default. */
function sizeIn(text: string, key: keyof typeof DEFAULTS): string {
  return new RegExp(`\\b${key}[=:]\\s*(\\d+)`).exec(text)?.[1] ?? DEFAULTS[key];
}

/** The number of ranks that the text states, or that printed. */
function ranksIn(text: string, printed: readonly number[]): number {
  const stated = /\b(?:num_ranks|ep)[=:]\s*(\d+)/.exec(text)?.[1];
  return stated === undefined ? Math.max(0, ...printed) + 1 : Number(stated);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function lowLatencyTable(text: string, name: string): CsvTable {
  const lines = [...text.matchAll(RANK_LINE)];
  const ranks = ranksIn(
    text,
    lines.map((line) => Number(line[1])),
  );
  const cells = {
    system: name,
    ep: String(ranks),
    hidden: sizeIn(text, 'hidden'),
    tokens_per_rank: sizeIn(text, 'num_tokens'),
    topk: sizeIn(text, 'num_topk'),
    experts: sizeIn(text, 'num_experts'),
    dispatch_us: String(mean(lines.map((line) => Number(line[2])))),
    combine_us: String(mean(lines.map((line) => Number(line[3])))),
  };
  return tableOf(Object.keys(cells), [cells]);
}

/** The network's bandwidth where the line has one, else that of NVLink. */
function bottleneck(line: string): string | undefined {
  const rates = new Map([...line.matchAll(BANDWIDTH)].map((found) => [found[2], found[1] as string]));
  return rates.get('RDMA') ?? rates.get('NVL');
}

function normalTable(text: string, name: string): CsvTable {
  const ranks = String(
    ranksIn(
      text,
      [...text.matchAll(/\[rank (\d+)\]/g)].map((found) => Number(found[1])),
    ),
  );
  const cells: Record<string, string> = {
    system: name,
    kernel: 'normal',
    dispatch_ep: ranks,
    dispatch_gbps: '',
    combine_ep: ranks,
    combine_gbps: '',
  };
  for (const [line, direction, format] of text.matchAll(BEST_LINE)) {
    const rate = bottleneck(line);
    if (rate !== undefined && format !== ' (BF16)') cells[`${direction}_gbps`] = rate;
  }
  return tableOf(Object.keys(cells), [cells]);
}

export const deepEpOutput: ForeignReader = {
  summary: 'output of the tests of DeepEP',
  matches: (text) => text.search(RANK_LINE) >= 0 || text.search(BEST_LINE) >= 0,
  toTable: (text, name) =>
    text.search(RANK_LINE) >= 0 ? lowLatencyTable(text, name) : normalTable(text, name),
};
