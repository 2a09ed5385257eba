/**
 * DeepEP's low-latency kernels: every (token, expert) copy is a message of its own, FP8 out and BF16 back.
 * Payload formulas are those of the kernels; half of the rows count nothing but start and flags.
 */
import { type CsvRow, numberIn, numberOr, numbersIn } from '../csv.js';
import type { RowModel } from '../experiment.js';
import { exchangeNs, linkMaker, lowLatencyModel } from '../models/link-model.js';
import { type SystemFigures, systemFigures } from '../systems.js';
import { type Measured, noFigures, readRows, type TableReader } from './reader.js';

const linkOf = linkMaker(lowLatencyModel);

/** Ranks of one node: 8, or 4 where a rack is one domain. */
export function nodeRanks(figures: SystemFigures): number {
  return figures.domainRanks > 8 ? 4 : 8;
}

export interface LowLatencyCase {
  readonly ep: number;
  readonly hidden: number;
  readonly tokensPerRank: number;
  readonly topK: number;
  readonly experts: number;
}

/** Bytes of one copy: FP8 with a 4-byte scale per 128 and a 16-byte header out, BF16 back. */
export function copyBytes(phase: 'dispatch' | 'combine', hidden: number): number {
  return phase === 'dispatch' ? hidden + (hidden / 128) * 4 + 16 : 2 * hidden;
}

/**
 * Multiprocessors that work: each takes a whole number of experts, so that few experts use few of them.
 */
export function workingUnits(experts: number, smCount: number): number {
  return Math.ceil(experts / Math.ceil(experts / smCount));
}

/** The experiment of one direction, uniform choices: a copy stays on its rank with probability 1 / ep. */
export function lowLatencyExperiment(
  one: LowLatencyCase,
  phase: 'dispatch' | 'combine',
  figures: SystemFigures,
  measuredNs: number,
): RowModel {
  const { ep, hidden, tokensPerRank, topK, experts } = one;
  const domain = Math.min(ep, figures.domainRanks);
  const payload = tokensPerRank * topK * copyBytes(phase, hidden);
  const exchange = {
    scaleUpBytes: (payload * (domain - 1)) / ep,
    scaleOutBytes: (payload * (ep - domain)) / ep,
    messages: experts,
    rowsPerUnit: tokensPerRank / workingUnits(experts, figures.smCount),
  };
  return {
    profile: `${figures.system}/low-latency-${phase}`,
    model: lowLatencyModel,
    groups: [`ep ${ep}`, `hidden ${hidden}`, `tokens ${tokensPerRank}`],
    label: `${phase} ep ${ep} hidden ${hidden} top-${topK} of ${experts} tokens ${tokensPerRank}`,
    measured: measuredNs,
    predict: (values) => exchangeNs(exchange, figures, linkOf(values)),
  };
}

function caseOf(row: CsvRow, figures: SystemFigures): LowLatencyCase | null {
  const numbers = numbersIn(row, ['hidden', 'tokens_per_rank', 'topk', 'experts']);
  const ep = numberOr(row, 'ep', (numberIn(row, 'node_num') ?? 0) * nodeRanks(figures));
  if (numbers === null || ep === null || ep < 1) return null;
  return {
    ep,
    hidden: numbers.hidden,
    tokensPerRank: numbers.tokens_per_rank,
    topK: numbers.topk,
    experts: numbers.experts,
  };
}

function experimentsOf(row: CsvRow): Measured[] | string {
  const figures = systemFigures(row.cells.system ?? '');
  if (figures === null) return noFigures(row.cells.system);
  const one = caseOf(row, figures);
  if (one === null) return 'a number is missing';
  return (['dispatch', 'combine'] as const).map((phase) => {
    const measuredUs = numberIn(row, `${phase}_us`);
    if (measuredUs === null) return 'no measured time';
    return lowLatencyExperiment(one, phase, figures, 1000 * measuredUs);
  });
}

export const lowLatency: TableReader = {
  summary: 'DeepEP low-latency kernels',
  columns: ['system', 'hidden', 'tokens_per_rank', 'topk', 'experts', 'dispatch_us', 'combine_us'],
  read: (table) => readRows(table, 2, experimentsOf),
};
