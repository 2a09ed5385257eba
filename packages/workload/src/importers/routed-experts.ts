/**
 * `routed_experts` of a request, as vLLM and SGLang return them: ids [tokens x layers x top-k] as .npy, as msgpack
 * (type, shape and bytes) or as base64 in JSON. Ids are logical experts. Each array is one frame.
 */
import { type ChoiceFrame, choiceTrace } from './build.js';
import { agreed, fileList, type Importer, stated } from './importer.js';
import { type RoutedArray, readRoutedArrays, routedForm } from './routed-arrays.js';

export const routedExperts: Importer = {
  summary:
    'routed_experts of vLLM or SGLang requests: .npy, msgpack, or base64 in JSON; state the expert count',
  detect: (file) => routedForm(file) !== null,
  read: async (files, hints) => {
    const expertCount = stated(files[0].name, 'the number of experts', hints.expertCount);
    const arrays = files.flatMap((file) => readRoutedArrays(file, hints));
    const [, layers, topK] = arrays[0].shape;
    agreed(arrays[0].place, 'top-k', topK, hints.topK);
    const frames = arrays.map((array) => frameOf(array, layers, topK, expertCount));
    const head = {
      source: `routed-experts: ${fileList(files)}`,
      notes: [],
      expertCount,
      topK,
      layers,
      rankCount: 1,
    };
    return choiceTrace(head, frames, hints);
  },
};

function frameOf(array: RoutedArray, layers: number, topK: number, expertCount: number): ChoiceFrame {
  const { place, shape, values, type } = array;
  if (type === 'u8' && expertCount > 256) {
    throw new RangeError(
      `${place}: uint8 ids cannot name ${expertCount} experts: ids above 255 have wrapped; record int16`,
    );
  }
  if (shape[1] !== layers || shape[2] !== topK) {
    throw new RangeError(
      `${place}: [${shape.join(' x ')}] where the first array has ${layers} layers, top-${topK}`,
    );
  }
  return {
    rankTokens: [shape[0]],
    id: (layer, row, k) => values[(row * layers + layer) * topK + k],
    place: (layer, row) => `${place}: token ${row}, layer ${layer}`,
  };
}
