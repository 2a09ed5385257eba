/**
 * A whole routed layer of Kimi K3 in one fused kernel: dispatch, both products and combine, expert-parallel over
 * eight B200. A column per law of loads; the time is that of the rank with the most rows.
 */
import { expertSizes, kernelTemplates } from '@epsim/model';
import { modelPresets, precisions } from '@epsim/spec';
import { type CsvTable, numberIn } from '../csv.js';
import { ReadingBuilder, type TableReading } from '../experiment.js';
import { loadsOf } from '../loads.js';
import { fusedModel, histogramOf, kernelMaker, meanExpertNs } from '../models/expert-models.js';
import { systemOf, type TableReader } from './reader.js';

const SYSTEM = 'b200';
const RANKS = 8;
const DRAWS = 4;

/** The degree in a name such as k3_routed_layer_b200_ep8.csv. */
function ranksNamedBy(fileName: string): number {
  return Number(/ep(\d+)/.exec(fileName)?.[1] ?? RANKS);
}

const kernelOf = kernelMaker(kernelTemplates['fused-w4a8'], fusedModel);

function read(table: CsvTable, fileName: string): TableReading {
  const building = new ReadingBuilder();
  building.skip('wrong number of cells', table.broken.length);
  const { moe } = modelPresets['kimi-k3'];
  const sizes = expertSizes(moe, precisions.mxfp4);
  const laws = table.columns.filter((column) => column.endsWith('_us'));
  for (const row of table.rows) {
    const figures = systemOf(row, fileName, SYSTEM);
    if (figures === null) {
      building.skip(`no figures for system ${row.cells.system}`, laws.length);
      continue;
    }
    const tokens = numberIn(row, 'tokens_per_rank');
    const ranks = numberIn(row, 'ep') ?? ranksNamedBy(fileName);
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
      building.add(row.line, {
        profile: `${figures.system}/fused-w4a8`,
        model: fusedModel,
        groups: [`ep ${ranks}`, `tokens ${tokens}`],
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
