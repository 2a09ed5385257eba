/**
 * SGLang's recorder in per_pass mode, one file a rank: `global_physical_count` [layers x slots] of each forward
 * pass. Ranks are summed, slots are added up to the experts they hold.
 */
import { shapeText } from '../formats/tensor.js';
import { loadTrace } from './build.js';
import { agreed, fileList, type Importer } from './importer.js';
import { readRecording, recordingKind, tensorField } from './sglang-file.js';

export const sglangPerPass: Importer = {
  summary: 'SGLang expert distribution recorder, mode per_pass, the files of all ranks (.pt)',
  detect: (file) => recordingKind(file) === 'per_pass',
  read: async (files, hints) => {
    const recording = readRecording(files);
    const { logicalOf, passes } = recording;
    const expertCount = agreed(
      files[0].name,
      'the number of experts',
      recording.expertCount,
      hints.expertCount,
    );
    const [layers, slots] = logicalOf.shape;
    const values = new Float64Array(passes.length * layers * expertCount);
    passes.forEach((records, frame) => {
      for (const { fields, file, pass } of records) {
        const counts = tensorField(fields, 'global_physical_count', 2, `${file}: pass ${pass}`);
        if (counts.shape[0] !== layers || counts.shape[1] !== slots) {
          throw new RangeError(
            `${file}: pass ${pass}: counts are ${shapeText(counts.shape)}, the map is ${shapeText(logicalOf.shape)}`,
          );
        }
        for (let i = 0; i < counts.values.length; i++) {
          const layer = Math.floor(i / slots);
          values[(frame * layers + layer) * expertCount + logicalOf.values[i]] += counts.values[i];
        }
      }
    });
    const { notes } = recording;
    const head = { source: `sglang-per-pass: ${fileList(files)}`, notes, expertCount, topK: null, layers };
    return loadTrace(head, values, hints);
  },
};
