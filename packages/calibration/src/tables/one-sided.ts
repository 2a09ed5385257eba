/**
 * One-sided all-to-all over NVLink (TensorRT-LLM on GB200): a row goes to min(ep, top-k) ranks, BF16 both ways.
 */
import { type CsvRow, numberIn, numbersIn } from '../csv.js';
import { exchangeNs, linkMaker, oneSidedModel } from '../models/link-model.js';
import { type Measured, noFigures, readRows, systemOf, type TableReader } from './reader.js';

const linkOf = linkMaker(oneSidedModel);

const SYSTEM = 'gb200';
const TOP_K = 8;
const ROW_BYTES = 2 * 7168;

function experimentsOf(row: CsvRow, fileName: string): Measured[] | string {
  const figures = systemOf(row, fileName, SYSTEM);
  if (figures === null) return noFigures(row.cells.system);
  const sizes = numbersIn(row, ['ep', 'batch_per_rank']);
  if (sizes === null) return 'a number is missing';
  const { ep, batch_per_rank: batch } = sizes;
  const remoteRows = batch * Math.min(ep, TOP_K) * ((ep - 1) / ep);
  const exchange = { scaleUpBytes: remoteRows * ROW_BYTES, scaleOutBytes: 0, messages: 0, rowsPerUnit: 0 };
  return (['dispatch', 'combine'] as const).map((phase) => {
    const measuredUs = numberIn(row, `${phase}_us`);
    if (measuredUs === null) return 'no measured time';
    return {
      profile: `${figures.system}/one-sided-${phase}`,
      model: oneSidedModel,
      groups: [`ep ${ep}`, `tokens ${batch}`],
      label: `${phase} ep ${ep} tokens ${batch}`,
      measured: 1000 * measuredUs,
      predict: (values) => exchangeNs(exchange, figures, linkOf(values)),
    };
  });
}

export const oneSided: TableReader = {
  summary: 'one-sided NVLink all-to-all on GB200',
  columns: ['ep', 'batch_per_rank', 'dispatch_us', 'combine_us'],
  read: (table, fileName) => readRows(table, 2, (row) => experimentsOf(row, fileName)),
};
