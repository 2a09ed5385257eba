/**
 * DeepEP's normal kernels: a row goes once per node over the network and is forwarded once per rank over the
 * scale-up links, FP8 out and BF16 back. Choices are uniform over the experts of the best four nodes.
 */
import { type CsvRow, numberIn, numberOr, numbersIn } from '../csv.js';
import type { RowModel } from '../experiment.js';
import { type Exchange, exchangeNs, linkMaker, throughputModel } from '../models/link-model.js';
import { distinctGroups } from '../occupancy.js';
import type { SystemFigures } from '../systems.js';
import { copyBytes, type LowLatencyCase, nodeRanks } from './low-latency.js';
import { type Measured, noFigures, readRows, systemOf, type TableReader } from './reader.js';

const TOP_NODES = 4;
const linkOf = linkMaker(throughputModel);

/** Bytes of one direction, and those that DeepEP counts: rows to the own node or rank too, though they stay. */
function normalExchange(
  one: LowLatencyCase,
  phase: 'dispatch' | 'combine',
  figures: SystemFigures,
): { exchange: Exchange; countedBytes: number } {
  const { ep, hidden, tokensPerRank, topK, experts } = one;
  const rowBytes = tokensPerRank * copyBytes(phase, hidden);
  const perNode = Math.min(ep, nodeRanks(figures));
  const nodes = ep / perNode;
  const usedNodes = Math.min(nodes, TOP_NODES);
  const usedExperts = (experts * usedNodes) / nodes;
  const ranks = distinctGroups(usedNodes * perNode, usedExperts, topK);
  const scaleUpBytes = (rowBytes * ranks * (perNode - 1)) / perNode;
  const fixed = { messages: 0, rowsPerUnit: 0 };
  if (nodes <= 1 || ep <= figures.domainRanks) {
    return { exchange: { scaleUpBytes, scaleOutBytes: 0, ...fixed }, countedBytes: rowBytes * ranks };
  }
  const countedBytes = rowBytes * distinctGroups(usedNodes, usedExperts, topK);
  const scaleOutBytes = (countedBytes * (nodes - 1)) / nodes;
  return { exchange: { scaleUpBytes, scaleOutBytes, ...fixed }, countedBytes };
}

function named(one: LowLatencyCase, phase: string, figures: SystemFigures) {
  return {
    profile: `${figures.system}/normal-${phase}`,
    model: throughputModel,
    groups: [`ep ${one.ep}`, `hidden ${one.hidden}`, `tokens ${one.tokensPerRank}`],
    label: `normal ${phase} ep ${one.ep} hidden ${one.hidden} tokens ${one.tokensPerRank}`,
  };
}

/** One direction as bandwidth of the bottleneck link, bytes/s, as DeepEP counts it. */
export function normalBandwidthExperiment(
  one: LowLatencyCase,
  phase: 'dispatch' | 'combine',
  figures: SystemFigures,
  measured: number,
): RowModel {
  const { exchange, countedBytes } = normalExchange(one, phase, figures);
  return {
    ...named(one, phase, figures),
    measured,
    predict: (values) => (1e9 * countedBytes) / exchangeNs(exchange, figures, linkOf(values)),
  };
}

function experimentsOf(row: CsvRow, fileName: string): Measured[] | string {
  const figures = systemOf(row, fileName, '');
  if (figures === null) return noFigures(row.cells.system);
  const sizes = numbersIn(row, ['hidden', 'tokens_per_rank', 'topk', 'experts', 'node_num']);
  const ep = sizes && numberOr(row, 'ep', sizes.node_num * nodeRanks(figures));
  if (sizes === null || ep === null) return 'a number is missing';
  const one: LowLatencyCase = {
    ep,
    hidden: sizes.hidden,
    tokensPerRank: sizes.tokens_per_rank,
    topK: sizes.topk,
    experts: sizes.experts,
  };
  return (['dispatch', 'combine'] as const).map((phase) => {
    const measuredUs = numberIn(row, `${phase}_transmit_us`);
    if (measuredUs === null) return 'no measured time';
    const { exchange } = normalExchange(one, phase, figures);
    return {
      ...named(one, phase, figures),
      measured: 1000 * measuredUs,
      predict: (values) => exchangeNs(exchange, figures, linkOf(values)),
    };
  });
}

export const normalKernels: TableReader = {
  summary: 'DeepEP normal kernels, time of the transfer',
  columns: [
    'hidden',
    'tokens_per_rank',
    'topk',
    'experts',
    'node_num',
    'dispatch_transmit_us',
    'combine_transmit_us',
  ],
  read: (table, fileName) => readRows(table, 2, (row) => experimentsOf(row, fileName)),
};
