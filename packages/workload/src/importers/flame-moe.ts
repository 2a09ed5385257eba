/**
 * FLAME-MoE's published traces: a parquet file a layer (layer_02... in its path), each row a token with `indices`,
 * its experts, and `scores`. The models have 64 experts and top-6. Rows of all layers are the same tokens.
 */
import { parquetReadObjects } from 'hyparquet';
import { startsWith } from '../formats/bytes.js';
import { type ChoiceFrame, choiceTrace } from './build.js';
import { agreed, fileList, type Importer, type TraceFile } from './importer.js';

const EXPERTS = 64;

export const flameMoe: Importer = {
  summary: 'FLAME-MoE traces: a parquet file a layer with indices [top-k] a token',
  detect: (file) => startsWith(file.bytes, 0x50, 0x41, 0x52, 0x31),
  read: async (files, hints) => {
    const layers = files.map((file) => ({ file, id: layerOf(file) })).sort((a, b) => a.id - b.id);
    const layerIds = layers.map(({ id }) => id);
    const indices = await Promise.all(layers.map(({ file }) => readIndices(file)));
    const topK = agreed(files[0].name, 'top-k', indices[0][0].length, hints.topK);
    indices.forEach((rows, i) => {
      if (rows.length !== indices[0].length) {
        throw new RangeError(
          `${layers[i].file.name}: ${rows.length} tokens where ${layers[0].file.name} has ${indices[0].length}`,
        );
      }
      const odd = rows.findIndex((row) => row.length !== topK);
      if (odd >= 0)
        throw new RangeError(`${layers[i].file.name}: row ${odd}: ${rows[odd].length} experts, top-${topK}`);
    });
    const frame: ChoiceFrame = {
      rankTokens: [indices[0].length],
      id: (layer, row, k) => indices[layer][row][k],
      place: (layer, row) => `${layers[layer].file.name}: row ${row}`,
    };
    const expertCount = hints.expertCount ?? EXPERTS;
    const notes = hints.expertCount === undefined ? [`${EXPERTS} experts, as all FLAME-MoE models have`] : [];
    const head = { source: `flame-moe: ${fileList(files)}`, notes, expertCount, topK, layers: layers.length };
    return choiceTrace({ ...head, layerIds, rankCount: 1 }, [frame], hints);
  },
};

function layerOf(file: TraceFile): number {
  const id = /layer[_-]?(\d+)/.exec(file.name)?.[1];
  if (id === undefined) throw new RangeError(`${file.name}: no layer in its path, such as layer_02`);
  return Number(id);
}

async function readIndices(file: TraceFile): Promise<number[][]> {
  const buffer = Uint8Array.from(file.bytes).buffer;
  let rows: { indices?: unknown }[];
  try {
    rows = (await parquetReadObjects({ file: buffer, columns: ['indices'] })) as typeof rows;
  } catch (error) {
    throw new RangeError(
      `${file.name}: not readable parquet: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  if (rows.length === 0) throw new RangeError(`${file.name}: no rows`);
  return rows.map(({ indices }, i) => {
    if (!Array.isArray(indices)) throw new RangeError(`${file.name}: row ${i}: no indices`);
    return indices.map(Number);
  });
}
