/**
 * SGLang's recorder in stat mode: `logical_count` [buffered steps x layers x experts], already summed over ranks.
 * Steps of zeros are unused buffer.
 */
import { shapeText } from '../formats/tensor.js';
import { loadTrace } from './build.js';
import { agreed, fileList, type Importer } from './importer.js';
import { recordingKind, savedDict, tensorField } from './sglang-file.js';

export const sglangStat: Importer = {
  summary: 'SGLang expert distribution recorder, mode stat (.pt)',
  detect: (file) => recordingKind(file) === 'stat',
  read: async (files, hints) => {
    const sorted = files.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const counts = sorted.map((file) => tensorField(savedDict(file), 'logical_count', 3, file.name));
    const [, layers, expertCount] = counts[0].shape;
    counts.forEach(({ shape }, i) => {
      agreed(sorted[i].name, 'the number of experts', shape[2], hints.expertCount);
      if (shape[1] !== layers || shape[2] !== expertCount) {
        throw new RangeError(
          `${sorted[i].name}: ${shapeText(shape)} where ${sorted[0].name} is ${shapeText(counts[0].shape)}`,
        );
      }
    });
    const values = new Float64Array(counts.reduce((sum, count) => sum + count.values.length, 0));
    let end = 0;
    for (const count of counts) {
      values.set(count.values, end);
      end += count.values.length;
    }
    const head = { source: `sglang-stat: ${fileList(sorted)}`, notes: [], expertCount, topK: null, layers };
    return loadTrace(head, values, hints);
  },
};
