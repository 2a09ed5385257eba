/**
 * Latent attention proper on H800: decode in the latent, prefill with expanded keys and values.
 */
import { coreWork } from '@epsim/model';
import { type AttentionShape, modelPresets } from '@epsim/spec';
import { type CsvRow, numbersIn } from '../csv.js';
import { rooflineModel, rooflineModelNs } from '../models/roofline-model.js';
import { type Measured, noFigures, readRows, systemOf, type TableReader } from './reader.js';

const SYSTEM = 'h800';

function experimentOf(row: CsvRow, fileName: string, attention: AttentionShape): Measured {
  const figures = systemOf(row, fileName, SYSTEM);
  if (figures === null) return noFigures(row.cells.system);
  const sizes = numbersIn(row, ['batch', 'kv_len', 'us']);
  if (sizes === null) return 'a number is missing';
  const { phase } = row.cells;
  if (phase !== 'decode' && phase !== 'prefill') return `unknown phase: ${phase}`;
  const work = coreWork(attention, {
    sequences: sizes.batch,
    newTokens: phase === 'decode' ? 1 : sizes.kv_len,
    contextTokens: sizes.kv_len,
  });
  return {
    profile: `${figures.system}/latent-attention`,
    model: rooflineModel,
    groups: [`batch ${sizes.batch}`],
    label: `${phase} batch ${sizes.batch} context ${sizes.kv_len}`,
    measured: 1000 * sizes.us,
    predict: (values) => rooflineModelNs(work, figures.device, 'bf16', values),
  };
}

export const latentAttention: TableReader = {
  summary: 'latent attention of DeepSeek-V3 on H800',
  columns: ['phase', 'batch', 'kv_len', 'us'],
  read(table, fileName) {
    const attention = modelPresets['deepseek-v3'].layers[0]?.attention;
    if (!attention) throw new Error('invariant: the deepseek-v3 preset has no attention');
    return readRows(table, 1, (row) => [experimentOf(row, fileName, attention)]);
  },
};
