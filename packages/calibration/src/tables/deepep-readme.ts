/**
 * The performance tables of DeepEP's own pages, on H800: normal kernels as bandwidth of the bottleneck link,
 * low-latency kernels as time. Conditions: hidden 7168, top-8, FP8 out, BF16 back; 4096 tokens a rank and the
 * best four nodes for the normal kernels, 128 tokens for the low-latency ones.
 */
import { type CsvRow, numberIn } from '../csv.js';
import type { SystemFigures } from '../systems.js';
import { lowLatencyExperiment } from './low-latency.js';
import { normalBandwidthExperiment } from './normal.js';
import { type Measured, noFigures, readRows, systemOf, type TableReader } from './reader.js';

const SYSTEM = 'h800';
const HIDDEN = 7168;
const TOP_K = 8;
const EXPERTS = 256;
const NORMAL_TOKENS = 4096;
const LOW_LATENCY_TOKENS = 128;

function experimentOf(row: CsvRow, phase: 'dispatch' | 'combine', figures: SystemFigures): Measured {
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
  const one = { ep, hidden: HIDDEN, tokensPerRank: NORMAL_TOKENS, topK: TOP_K, experts: EXPERTS };
  return normalBandwidthExperiment(one, phase, figures, 1e9 * measured);
}

export const deepEpReadme: TableReader = {
  summary: 'normal and low-latency kernels of DeepEP on H800, as its pages state them',
  columns: ['kernel', 'dispatch_ep', 'dispatch_gbps', 'combine_ep', 'combine_gbps'],
  read: (table, fileName) =>
    readRows(table, 2, (row) => {
      const figures = systemOf(row, fileName, SYSTEM);
      if (figures === null) return noFigures(row.cells.system);
      return [experimentOf(row, 'dispatch', figures), experimentOf(row, 'combine', figures)];
    }),
};
