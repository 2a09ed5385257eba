/**
 * DeepGEMM's own tables: FP8 products, dense and grouped, as achieved TFLOPS.
 * Seen as a roofline without tiles: they speak for projections and shared experts.
 */
import type { Work } from '@epsim/model';
import { type CsvRow, numbersIn } from '../csv.js';
import { rooflineModel, rooflineModelNs } from '../models/roofline-model.js';
import { type Measured, noFigures, readRows, systemOf, type TableReader } from './reader.js';

const SYSTEM = 'h800';
/** FP8 in, BF16 out. */
const OUT_BYTES = 2;

function experimentOf(row: CsvRow, fileName: string): Measured {
  const figures = systemOf(row, fileName, SYSTEM);
  if (figures === null) return noFigures(row.cells.system);
  const sizes = numbersIn(row, ['groups', 'm', 'n', 'k', 'tflops']);
  if (sizes === null) return 'a number is missing';
  const { groups, m, n, k, tflops } = sizes;
  const work: Work = {
    flops: 2 * groups * m * n * k,
    bytes: groups * (n * k + m * k + OUT_BYTES * m * n),
    kernels: 1,
  };
  return {
    profile: `${figures.system}/dense-fp8`,
    model: rooflineModel,
    groups: [`m ${m}`],
    label: `${row.cells.layout} ${groups} x ${m} x ${n} x ${k}`,
    measured: work.flops / (tflops * 1000),
    predict: (values) => rooflineModelNs(work, figures.device, 'fp8', values),
  };
}

export const deepGemm: TableReader = {
  summary: 'FP8 products of DeepGEMM on H800',
  columns: ['layout', 'groups', 'm', 'n', 'k', 'tflops'],
  read: (table, fileName) => readRows(table, 1, (row) => [experimentOf(row, fileName)]),
};
