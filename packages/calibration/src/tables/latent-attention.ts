/**
 * Latent attention proper on H800: decode in the latent, prefill with expanded keys and values.
 */
import { coreWork } from '@epsim/model';
import { modelPresets } from '@epsim/spec';
import { type CsvTable, numbersIn } from '../csv.js';
import { ReadingBuilder, type TableReading } from '../experiment.js';
import { rooflineModel, rooflineModelNs } from '../models/roofline-model.js';
import { systemOf, type TableReader } from './reader.js';

const SYSTEM = 'h800';

function read(table: CsvTable, fileName: string): TableReading {
  const building = new ReadingBuilder();
  building.skip('wrong number of cells', table.broken.length);
  const attention = modelPresets['deepseek-v3'].layers[0]?.attention;
  if (!attention) throw new Error('invariant: the deepseek-v3 preset has no attention');
  for (const row of table.rows) {
    const figures = systemOf(row, fileName, SYSTEM);
    if (figures === null) {
      building.skip(`no figures for system ${row.cells.system}`);
      continue;
    }
    const sizes = numbersIn(row, ['batch', 'kv_len', 'us']);
    const { phase } = row.cells;
    if (sizes === null || (phase !== 'decode' && phase !== 'prefill')) {
      building.skip(sizes === null ? 'a number is missing' : `unknown phase: ${phase}`);
      continue;
    }
    const work = coreWork(attention, {
      sequences: sizes.batch,
      newTokens: phase === 'decode' ? 1 : sizes.kv_len,
      contextTokens: sizes.kv_len,
    });
    building.add(row.line, {
      profile: `${figures.system}/latent-attention`,
      model: rooflineModel,
      groups: [`batch ${sizes.batch}`],
      label: `${phase} batch ${sizes.batch} context ${sizes.kv_len}`,
      measured: 1000 * sizes.us,
      predict: (values) => rooflineModelNs(work, figures.device, 'bf16', values),
    });
  }
  return building.done();
}

export const latentAttention: TableReader = {
  summary: 'latent attention of DeepSeek-V3 on H800',
  columns: ['phase', 'batch', 'kv_len', 'us'],
  read,
};
