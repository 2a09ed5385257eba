/** Expert weights as EPLB takes them: [layers][experts], or steps of these, as JSON, CSV or .npy. */
import { utf8 } from '../formats/bytes.js';
import { type LoadTable, parseLoadTable } from '../formats/load-table.js';
import { isNpy, readNpy } from '../formats/npy.js';
import { shapeText } from '../formats/tensor.js';
import { loadTrace } from './build.js';
import { agreed, type Importer, type TraceFile } from './importer.js';

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
    const { layerCount, expertCount, values } = readTable(file);
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

/** A table whose `values` may hold several steps, one after another. */
function readTable(
  file: TraceFile,
): Pick<LoadTable, 'layerCount' | 'expertCount'> & { values: ArrayLike<number> } {
  if (!isNpy(file.bytes)) return parseLoadTable(utf8(file.bytes), file.name);
  const { shape, values } = readNpy(file.bytes, file.name);
  if (shape.length !== 2 && shape.length !== 3) {
    throw new RangeError(`${file.name}: ${shapeText(shape)}; a weight table is [layers x experts]`);
  }
  const [layerCount, expertCount] = shape.slice(-2);
  return { layerCount, expertCount, values };
}
