/** SGLang's older recorder: a CSV layer_id,expert_id,count from each rank, summed over the files. */
import { utf8 } from '../formats/bytes.js';
import { type LoadTable, parseLoadTable } from '../formats/load-table.js';
import { loadTrace } from './build.js';
import { fileList, type Importer } from './importer.js';

export const sglangCsv: Importer = {
  summary: 'SGLang expert counts of older versions, the files of all ranks: CSV layer_id,expert_id,count',
  detect: (file) => /^\s*layer_id\s*,\s*expert_id\s*,\s*count\s*\n/.test(utf8(file.bytes.subarray(0, 256))),
  read: async (files, hints) => {
    const tables = files.map((file) => ({
      file: file.name,
      table: parseLoadTable(utf8(file.bytes), file.name),
    }));
    const layers = Math.max(...tables.map(({ table }) => table.layerCount));
    const listed = Math.max(...tables.map(({ table }) => table.expertCount));
    // Experts without a count may not be listed, so a larger stated number is no contradiction.
    const expertCount = hints.expertCount ?? listed;
    const values = new Float64Array(layers * expertCount);
    for (const { file, table } of tables) addTable(values, table, expertCount, file);
    const notes =
      hints.expertCount === undefined
        ? [`${listed} experts: the largest listed id; state the number if larger`]
        : [];
    return loadTrace(
      { source: `sglang-csv: ${fileList(files)}`, notes, expertCount, topK: null, layers },
      values,
      hints,
    );
  },
};

function addTable(values: Float64Array, table: LoadTable, expertCount: number, file: string): void {
  if (table.expertCount > expertCount) {
    throw new RangeError(`${file}: expert ${table.expertCount - 1} of ${expertCount} experts`);
  }
  for (let layer = 0; layer < table.layerCount; layer++) {
    for (let e = 0; e < table.expertCount; e++) {
      values[layer * expertCount + e] += table.values[layer * table.expertCount + e];
    }
  }
}
