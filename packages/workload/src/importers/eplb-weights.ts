/** Expert weights as EPLB takes them: [layers][experts], or steps of these, as JSON, CSV or .npy. */
import { utf8 } from '../formats/bytes.js';
import { readLoadTable } from '../formats/load-table.js';
import { isNpy } from '../formats/npy.js';
import { loadTrace } from './build.js';
import { agreed, type Importer } from './importer.js';

export const eplbWeights: Importer = {
  summary: 'expert weights as EPLB takes them, [layers][experts]: JSON, CSV or .npy',
  detect: (file) => {
    if (isNpy(file.bytes)) return /'shape':\s*\(\d+,\s*\d+,?\s*\)/.test(utf8(file.bytes.subarray(0, 256)));
    const start = utf8(file.bytes.subarray(0, 4096)).trimStart();
    if (/^[[{]/.test(start)) return /"?(weight|logical_count|logicalCount|loads)"?|^\[\s*\[/.test(start);
    return /^(#[^\n]*\n\s*)*[\d.]+\s*,/.test(start);
  },
  read: async (files, hints) => {
    if (files.length !== 1) throw new RangeError(`${files.length} files; a weight table is one file`);
    const [file] = files;
    const { layerCount, expertCount, values } = readLoadTable(file.bytes, file.name);
    agreed(file.name, 'the number of experts', expertCount, hints.expertCount);
    const head = {
      source: `eplb-weights: ${file.name}`,
      notes: [],
      expertCount,
      topK: null,
      layers: layerCount,
    };
    return loadTrace(head, values, hints);
  },
};
