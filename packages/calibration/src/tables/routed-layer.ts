/**
 * A whole routed layer of Kimi K3 in one fused kernel: dispatch, both products and combine, expert-parallel over
 * eight B200. A column per law of loads; the time is that of the rank with the most rows.
 */
import { expertSizes, kernelTemplates } from '@epsim/model';
import { modelPresets, precisions } from '@epsim/spec';
import { type CsvTable, numberIn } from '../csv.js';
import { ReadingBuilder, type TableReading } from '../experiment.js';
import { loadsOf } from '../loads.js';
import { groupedModel, histogramOf, kernelMaker, meanExpertNs } from '../models/expert-models.js';
import { systemFigures } from '../systems.js';
import type { TableReader } from './reader.js';

const SYSTEM = 'b200';
const RANKS = 8;
const DRAWS = 4;

const kernelOf = kernelMaker(kernelTemplates['fused-w4a8'], groupedModel);

function read(table: CsvTable): TableReading {
  const building = new ReadingBuilder();
  building.skip('wrong number of cells', table.broken.length);
  const figures = systemFigures(SYSTEM);
  if (figures === null) throw new Error(`invariant: no preset for ${SYSTEM}`);
  const { moe } = modelPresets['kimi-k3'];
  const sizes = expertSizes(moe, precisions.mxfp4);
  const laws = table.columns.filter((column) => column.endsWith('_us'));
  for (const row of table.rows) {
    const tokens = numberIn(row, 'tokens_per_rank');
    const ranks = numberIn(row, 'ep') ?? RANKS;
    for (const column of laws) {
      const measuredUs = numberIn(row, column);
      const law = column.slice(0, -'_us'.length);
      const shape = { tokens: (tokens ?? 0) * ranks, expertCount: moe.expertCount, topK: moe.topK, ranks };
      const loads = tokens === null ? null : loadsOf(shape, law, DRAWS);
      if (tokens === null || measuredUs === null || loads === null) {
        building.skip(
          loads === null && tokens !== null ? `unknown law of loads: ${law}` : 'a number is missing',
        );
        continue;
      }
      const histograms = loads.map(histogramOf);
      building.experiments.push({
        profile: `${SYSTEM}/fused-w4a8`,
        model: groupedModel,
        groups: [`tokens ${tokens}`],
        label: `${row.cells.phase ?? ''} tokens ${tokens} ${law}`.trim(),
        measured: 1000 * measuredUs,
        predict: (values) => meanExpertNs(histograms, sizes, figures.device, kernelOf(values)),
      });
    }
  }
  return building.done();
}

export const routedLayer: TableReader = {
  summary: 'a whole routed layer of K3, fused, on 8 x B200',
  columns: ['tokens_per_rank', 'balanced_us'],
  read,
};
