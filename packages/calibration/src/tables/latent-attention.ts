/**
 * Latent attention proper on H800: decode in the latent, prefill with expanded keys and values.
 */
import { coreWork } from '@epsim/model';
import { type AttentionShape, modelPresets } from '@epsim/spec';
import { type CsvTable, numbersIn } from '../csv.js';
import { ReadingBuilder, type TableReading } from '../experiment.js';
import { rooflineModel, rooflineModelNs } from '../models/roofline-model.js';
import { systemFigures } from '../systems.js';
import type { TableReader } from './reader.js';

const SYSTEM = 'h800';

function read(table: CsvTable): TableReading {
  const building = new ReadingBuilder();
  building.skip('wrong number of cells', table.broken.length);
  const figures = systemFigures(SYSTEM);
  const attention: AttentionShape | null | undefined = modelPresets['deepseek-v3'].layers[0]?.attention;
  if (figures === null || !attention)
    throw new Error('invariant: presets for h800 and deepseek-v3 are missing');
  for (const row of table.rows) {
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
    building.experiments.push({
      profile: `${SYSTEM}/latent-attention`,
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
