/**
 * NCCL collectives inside one scale-up domain, by bytes of the whole buffer of a rank.
 * Bus bytes are those of nccl-tests: what must leave a rank at the least.
 */
import { type CsvRow, numbersIn } from '../csv.js';
import type { RowModel } from '../experiment.js';
import { collectiveModel, exchangeNs, linkMaker } from '../models/link-model.js';
import { type SystemFigures, systemFigures } from '../systems.js';
import { type Measured, noFigures, readRows, type TableReader } from './reader.js';

const linkOf = linkMaker(collectiveModel);

const operations: Readonly<Record<string, { name: string; passes: number }>> = {
  alltoall: { name: 'alltoall', passes: 1 },
  all_to_all: { name: 'alltoall', passes: 1 },
  all_gather: { name: 'all-gather', passes: 1 },
  reduce_scatter: { name: 'reduce-scatter', passes: 1 },
  all_reduce: { name: 'all-reduce', passes: 2 },
};

/** One collective over `ranks` of a domain; null for an operation that is not known. */
function collectiveExperiment(
  operation: string,
  ranks: number,
  bytes: number,
  figures: SystemFigures,
  measuredNs: number,
): RowModel | null {
  const known = operations[operation];
  if (known === undefined) return null;
  const exchange = {
    scaleUpBytes: (known.passes * bytes * (ranks - 1)) / ranks,
    scaleOutBytes: 0,
    messages: ranks,
    rowsPerUnit: 0,
  };
  return {
    profile: `${figures.system}/nccl-${known.name}`,
    model: collectiveModel,
    groups: [`ranks ${ranks}`, `bytes ${2 ** Math.round(Math.log2(Math.max(1, bytes)))}`],
    label: `${known.name} ${figures.system} ranks ${ranks} bytes ${bytes}`,
    measured: measuredNs,
    predict: (values) => exchangeNs(exchange, figures, linkOf(values)),
  };
}

function experimentOf(row: CsvRow): Measured {
  const figures = systemFigures(row.cells.system ?? '');
  if (figures === null) return noFigures(row.cells.system);
  const sizes = numbersIn(row, ['num_gpus', 'bytes', 'latency_us']);
  if (sizes === null) return 'a number is missing';
  if (sizes.num_gpus < 2) return 'fewer than two ranks';
  const operation = row.cells.op ?? '';
  return (
    collectiveExperiment(operation, sizes.num_gpus, sizes.bytes, figures, 1000 * sizes.latency_us) ??
    `unknown operation: ${operation}`
  );
}

export const collectives: TableReader = {
  summary: 'NCCL collectives inside one scale-up domain',
  columns: ['system', 'op', 'num_gpus', 'bytes', 'latency_us'],
  read: (table) => readRows(table, 1, (row) => [experimentOf(row)]),
};
