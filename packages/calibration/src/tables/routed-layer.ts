/**
 * A whole routed layer of Kimi K3 in one fused kernel: dispatch, both products and combine, expert-parallel over
 * eight B200. A column per law of loads; the time is that of the rank with the most rows.
 */
import { expertSizes, kernelTemplates } from '@epsim/model';
import { modelPresets, precisions } from '@epsim/spec';
import { type CsvRow, numberIn, numberOr } from '../csv.js';
import { loadsOf, shapeProblem } from '../loads.js';
import { fusedModel, histogramOf, kernelMaker, meanExpertNs } from '../models/expert-models.js';
import { type Measured, noFigures, readRows, systemOf, type TableReader } from './reader.js';

const SYSTEM = 'b200';
const RANKS = 8;
const DRAWS = 4;
/** End of the names of columns that hold times; what stands before it is a law. */
const COLUMN_END = '_us';

/** The degree in a name such as k3_routed_layer_b200_ep8.csv. */
function ranksNamedBy(fileName: string): number {
  return Number(/ep(\d+)/.exec(fileName)?.[1] ?? RANKS);
}

const kernelOf = kernelMaker(kernelTemplates['fused-w4a8'], fusedModel);

const { moe } = modelPresets['kimi-k3'];
const sizes = expertSizes(moe, precisions.mxfp4);

/** One value for each of `laws`, names of the laws that loads were drawn from. */
function experimentsOf(row: CsvRow, fileName: string, laws: readonly string[]): Measured[] | string {
  const figures = systemOf(row, fileName, SYSTEM);
  if (figures === null) return noFigures(row.cells.system);
  const tokens = numberIn(row, 'tokens_per_rank');
  const ranks = numberOr(row, 'ep', ranksNamedBy(fileName));
  if (tokens === null || ranks === null) return 'a number is missing';
  const shape = { tokens: tokens * ranks, expertCount: moe.expertCount, topK: moe.topK, ranks };
  const problem = shapeProblem(shape);
  if (problem !== null) return problem;
  return laws.map((law) => {
    const loads = loadsOf(shape, law, DRAWS);
    if (loads === null) return `unknown law of loads: ${law}`;
    const measuredUs = numberIn(row, law + COLUMN_END);
    if (measuredUs === null) return 'a number is missing';
    const histograms = loads.map(histogramOf);
    return {
      profile: `${figures.system}/fused-w4a8`,
      model: fusedModel,
      groups: [`ep ${ranks}`, `tokens ${tokens}`],
      label: `${row.cells.phase ?? ''} tokens ${tokens} ${law}`.trim(),
      measured: 1000 * measuredUs,
      predict: (values) => meanExpertNs(histograms, sizes, figures.device, kernelOf(values)),
    };
  });
}

export const routedLayer: TableReader = {
  summary: 'a whole routed layer of K3, fused, on 8 x B200',
  columns: ['tokens_per_rank', 'balanced_us'],
  read(table, fileName) {
    const timed = table.columns.filter((column) => column.endsWith(COLUMN_END));
    const laws = timed.map((column) => column.slice(0, -COLUMN_END.length));
    return readRows(table, laws.length, (row) => experimentsOf(row, fileName, laws));
  },
};
