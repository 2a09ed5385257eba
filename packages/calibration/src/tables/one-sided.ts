/**
 * One-sided all-to-all over NVLink (TensorRT-LLM on GB200): a row goes to min(ep, top-k) ranks, BF16 both ways.
 */
import { type CsvTable, numberIn, numbersIn } from '../csv.js';
import { ReadingBuilder, type TableReading } from '../experiment.js';
import { exchangeNs, linkMaker, oneSidedModel } from '../models/link-model.js';
import { systemOf, type TableReader } from './reader.js';

const linkOf = linkMaker(oneSidedModel);

const SYSTEM = 'gb200';
const TOP_K = 8;
const ROW_BYTES = 2 * 7168;

function read(table: CsvTable, fileName: string): TableReading {
  const building = new ReadingBuilder();
  building.skip('wrong number of cells', 2 * table.broken.length);
  for (const row of table.rows) {
    const figures = systemOf(row, fileName, SYSTEM);
    if (figures === null) {
      building.skip(`no figures for system ${row.cells.system}`, 2);
      continue;
    }
    const sizes = numbersIn(row, ['ep', 'batch_per_rank']);
    if (sizes === null) {
      building.skip('a number is missing', 2);
      continue;
    }
    const { ep, batch_per_rank: batch } = sizes;
    const remoteRows = batch * Math.min(ep, TOP_K) * ((ep - 1) / ep);
    const exchange = { scaleUpBytes: remoteRows * ROW_BYTES, scaleOutBytes: 0, messages: 0, rowsPerUnit: 0 };
    for (const phase of ['dispatch', 'combine'] as const) {
      const measuredUs = numberIn(row, `${phase}_us`);
      if (measuredUs === null) {
        building.skip('no measured time');
        continue;
      }
      building.add(row.line, {
        profile: `${figures.system}/one-sided-${phase}`,
        model: oneSidedModel,
        groups: [`ep ${ep}`, `tokens ${batch}`],
        label: `${phase} ep ${ep} tokens ${batch}`,
        measured: 1000 * measuredUs,
        predict: (values) => exchangeNs(exchange, figures, linkOf(values)),
      });
    }
  }
  return building.done();
}

export const oneSided: TableReader = {
  summary: 'one-sided NVLink all-to-all on GB200',
  columns: ['ep', 'batch_per_rank', 'dispatch_us', 'combine_us'],
  read,
};
