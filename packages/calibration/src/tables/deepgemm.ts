/**
 * DeepGEMM's own tables: FP8 products, dense and grouped, as achieved TFLOPS.
 * Seen as a roofline without tiles: they speak for projections and shared experts.
 */
import type { Work } from '@epsim/model';
import { type CsvTable, numbersIn } from '../csv.js';
import { ReadingBuilder, type TableReading } from '../experiment.js';
import { rooflineModel, rooflineModelNs } from '../models/roofline-model.js';
import { systemOf, type TableReader } from './reader.js';

const SYSTEM = 'h800';
/** FP8 in, BF16 out. */
const OUT_BYTES = 2;

function read(table: CsvTable, fileName: string): TableReading {
  const building = new ReadingBuilder();
  building.skip('wrong number of cells', table.broken.length);
  for (const row of table.rows) {
    const figures = systemOf(row, fileName, SYSTEM);
    if (figures === null) {
      building.skip(`no figures for system ${row.cells.system}`);
      continue;
    }
    const sizes = numbersIn(row, ['groups', 'm', 'n', 'k', 'tflops']);
    if (sizes === null) {
      building.skip('a number is missing');
      continue;
    }
    const { groups, m, n, k, tflops } = sizes;
    const work: Work = {
      flops: 2 * groups * m * n * k,
      bytes: groups * (n * k + m * k + OUT_BYTES * m * n),
      kernels: 1,
    };
    building.add(row.line, {
      profile: `${figures.system}/dense-fp8`,
      model: rooflineModel,
      groups: [`m ${m}`],
      label: `${row.cells.layout} ${groups} x ${m} x ${n} x ${k}`,
      measured: work.flops / (tflops * 1000),
      predict: (values) => rooflineModelNs(work, figures.device, 'fp8', values),
    });
  }
  return building.done();
}

export const deepGemm: TableReader = {
  summary: 'FP8 products of DeepGEMM on H800',
  columns: ['layout', 'groups', 'm', 'n', 'k', 'tflops'],
  read,
};
