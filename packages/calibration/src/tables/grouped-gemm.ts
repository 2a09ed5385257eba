/**
 * Grouped FP8 products of the experts of one rank, up (gate and up fused) and down apart, balanced loads.
 */
import { type ExpertSizes, kernelTemplates } from '@epsim/model';
import { type CsvRow, numberIn, numbersIn } from '../csv.js';
import { groupedModel, kernelMaker, meanExpertNs } from '../models/expert-models.js';
import { type Measured, noFigures, readRows, systemOf, type TableReader } from './reader.js';

const SYSTEM = 'h800';

const kernelOf = kernelMaker(kernelTemplates['deepgemm-fp8'], groupedModel);

/** One product [rows x k] by [k x n] with FP8 weights and a 4-byte scale per 128 x 128. */
function productSizes(n: number, k: number): ExpertSizes {
  return { weightBytes: n * k * (1 + 4 / 16_384), flopsPerRow: 2 * n * k, rowElements: 0 };
}

function experimentsOf(row: CsvRow, fileName: string): Measured[] | string {
  const figures = systemOf(row, fileName, SYSTEM);
  if (figures === null) return noFigures(row.cells.system);
  const shape = numbersIn(row, ['local_experts', 'tokens_per_expert', 'hidden', 'inter']);
  if (shape === null) return 'a number is missing';
  const load = {
    tokensPerSlot: Int32Array.of(shape.tokens_per_expert),
    slotsPerEntry: Int32Array.of(shape.local_experts),
  };
  const products = {
    up: productSizes(2 * shape.inter, shape.hidden),
    down: productSizes(shape.hidden, shape.inter),
  };
  return (['up', 'down'] as const).map((product) => {
    const measuredUs = numberIn(row, `${product}_us`);
    if (measuredUs === null) return 'no measured time';
    return {
      profile: `${figures.system}/deepgemm-fp8`,
      model: groupedModel,
      groups: [`ep ${row.cells.ep}`],
      spans: {
        expertsPerRank: shape.local_experts,
        rowsPerExpert: shape.tokens_per_expert,
        expertWidth: shape.hidden,
        expertInnerSize: shape.inter,
      },
      label: `${row.cells.phase} ep ${row.cells.ep} rows ${shape.tokens_per_expert} ${product}`,
      measured: 1000 * measuredUs,
      predict: (values) => meanExpertNs([load], products[product], figures.device, kernelOf(values)),
    };
  });
}

export const groupedGemm: TableReader = {
  summary: 'grouped FP8 products of DeepSeek-V3 experts on H800',
  columns: ['local_experts', 'tokens_per_expert', 'hidden', 'inter', 'up_us', 'down_us'],
  read: (table, fileName) => readRows(table, 2, (row) => experimentsOf(row, fileName)),
};
