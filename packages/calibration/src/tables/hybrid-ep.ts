/**
 * Exchange kernels timed over a range of multiprocessors (NVIDIA's Hybrid-EP and DeepEP beside it), as algorithm
 * bandwidth: bytes to the own node, or the own rank inside one domain, are counted though they do not travel.
 */
import { type CsvRow, numberIn, numbersIn } from '../csv.js';
import { unitLimitedBandwidth, unitLimitedModel } from '../models/link-model.js';
import { type SystemFigures, systemFigures } from '../systems.js';
import { type Measured, noFigures, readRows, type TableReader } from './reader.js';

const COLUMNS = ['dispatch_fp8_gbps', 'dispatch_bf16_gbps', 'combine_gbps'] as const;

/** Nominal rate of the limiting link, raised by what is counted but stays. */
function countedLinkRate(ranks: number, figures: SystemFigures): number {
  const domains = ranks / figures.domainRanks;
  if (domains > 1) return (figures.scaleOutBytesPerSec * domains) / (domains - 1);
  return (figures.scaleUpBytesPerSec * ranks) / (ranks - 1);
}

/** "HybridEP" and "kernel_only" as a kernel's name: hybridep-kernel-only. */
function kernelName(row: CsvRow): string {
  return `${row.cells.implementation}-${row.cells.measurement}`.toLowerCase().replaceAll('_', '-');
}

function experimentsOf(row: CsvRow): Measured[] | string {
  const figures = systemFigures(row.cells.platform ?? '');
  if (figures === null) return noFigures(row.cells.platform);
  const sizes = numbersIn(row, ['ranks', 'sms']);
  if (sizes === null || sizes.ranks < 2) return 'a number is missing';
  const linkRate = countedLinkRate(sizes.ranks, figures);
  return COLUMNS.map((column) => {
    const measured = numberIn(row, column);
    if (measured === null) return 'no measured bandwidth';
    const phase = column.replace('_gbps', '').replace('_', '-');
    return {
      profile: `${figures.system}/${kernelName(row)}-${phase}`,
      model: unitLimitedModel,
      groups: [`ranks ${sizes.ranks}`, `sms ${sizes.sms}`],
      label: `${row.cells.platform} ${kernelName(row)} ranks ${sizes.ranks} sms ${sizes.sms} ${phase}`,
      measured: 1e9 * measured,
      predict: (values) => unitLimitedBandwidth(sizes.sms, linkRate, values),
    };
  });
}

export const hybridEp: TableReader = {
  summary: 'exchange kernels by number of multiprocessors',
  columns: ['platform', 'implementation', 'measurement', 'ranks', 'sms', ...COLUMNS],
  read: (table) => readRows(table, COLUMNS.length, experimentsOf),
};
