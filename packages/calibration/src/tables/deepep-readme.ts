/**
 * The performance tables of DeepEP's own pages, on H800: normal kernels as bandwidth of the bottleneck link,
 * low-latency kernels as time. Conditions: hidden 7168, top-8, FP8 out, BF16 back; 4096 tokens a rank and the
 * best four nodes for the normal kernels, 128 tokens for the low-latency ones.
 */
import { type CsvRow, type CsvTable, numberIn } from '../csv.js';
import { type Experiment, ReadingBuilder, type TableReading } from '../experiment.js';
import { linkMaker, throughputModel } from '../models/link-model.js';
import { distinctGroups } from '../occupancy.js';
import type { SystemFigures } from '../systems.js';
import { copyBytes, lowLatencyExperiment } from './low-latency.js';
import { systemOf, type TableReader } from './reader.js';

const linkOf = linkMaker(throughputModel);

const SYSTEM = 'h800';
const HIDDEN = 7168;
const TOP_K = 8;
const EXPERTS = 256;
const NORMAL_TOKENS = 4096;
const LOW_LATENCY_TOKENS = 128;
const NODE_RANKS = 8;
const TOP_NODES = 4;

/**
 * Bandwidth as DeepEP counts it, bytes/s: rows to the own node or rank are counted as well, though they do not
 * travel. Rows go once per node over the network and once per rank over the scale-up links.
 */
function normalBandwidth(
  ep: number,
  phase: 'dispatch' | 'combine',
  figures: SystemFigures,
  values: readonly number[],
): number {
  const link = linkOf(values);
  const rowBytes = copyBytes(phase, HIDDEN);
  const nodes = Math.max(1, ep / NODE_RANKS);
  const usedNodes = Math.min(nodes, TOP_NODES);
  const ranks = distinctGroups(Math.min(ep, usedNodes * NODE_RANKS), EXPERTS * (usedNodes / nodes), TOP_K);
  const inDomain = Math.min(ep, NODE_RANKS);
  const upBytes = NORMAL_TOKENS * ranks * ((inDomain - 1) / inDomain) * rowBytes;
  const upNs = (1e9 * upBytes) / (figures.scaleUpBytesPerSec * link.upFraction);
  if (nodes <= 1) return (1e9 * NORMAL_TOKENS * ranks * rowBytes) / upNs;
  const perNode = distinctGroups(usedNodes, EXPERTS * (usedNodes / nodes), TOP_K);
  const counted = NORMAL_TOKENS * perNode * rowBytes;
  const outNs = (1e9 * counted * ((nodes - 1) / nodes)) / (figures.scaleOutBytesPerSec * link.outFraction);
  return (1e9 * counted) / Math.max(upNs, outNs);
}

function experimentOf(
  row: CsvRow,
  phase: 'dispatch' | 'combine',
  figures: SystemFigures,
): Experiment | string {
  const ep = numberIn(row, `${phase}_ep`);
  if (ep === null) return 'no degree';
  if (row.cells.kernel === 'low_latency') {
    const measuredUs = numberIn(row, `${phase}_us`);
    if (measuredUs === null) return 'no measured time';
    const one = { ep, hidden: HIDDEN, tokensPerRank: LOW_LATENCY_TOKENS, topK: TOP_K, experts: EXPERTS };
    return lowLatencyExperiment(one, phase, figures, 1000 * measuredUs);
  }
  if (row.cells.kernel !== 'normal') return `unknown kernel: ${row.cells.kernel}`;
  const measured = numberIn(row, `${phase}_gbps`);
  if (measured === null) return 'no measured bandwidth';
  return {
    profile: `${figures.system}/normal-${phase}`,
    model: throughputModel,
    groups: [`ep ${ep}`],
    label: `normal ${phase} ep ${ep}`,
    measured: 1e9 * measured,
    predict: (values) => normalBandwidth(ep, phase, figures, values),
  };
}

function read(table: CsvTable, fileName: string): TableReading {
  const building = new ReadingBuilder();
  building.skip('wrong number of cells', 2 * table.broken.length);
  for (const row of table.rows) {
    const figures = systemOf(row, fileName, SYSTEM);
    if (figures === null) {
      building.skip(`no figures for system ${row.cells.system}`, 2);
      continue;
    }
    for (const phase of ['dispatch', 'combine'] as const) {
      const experiment = experimentOf(row, phase, figures);
      if (typeof experiment === 'string') building.skip(experiment);
      else building.experiments.push(experiment);
    }
  }
  return building.done();
}

export const deepEpReadme: TableReader = {
  summary: 'normal and low-latency kernels of DeepEP on H800, as its pages state them',
  columns: ['kernel', 'dispatch_ep', 'dispatch_gbps', 'combine_ep', 'combine_gbps'],
  read,
};
