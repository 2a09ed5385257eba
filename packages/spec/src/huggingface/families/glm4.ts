/**
 * GLM-4.5 to 4.7: grouped-query attention with biases on DeepSeek's layer of experts.
 */
import { denseFirst, type Family, layersOf, readGqa, readMoe } from '../parts.js';

export const glm4: Family = {
  modelTypes: ['glm4_moe'],
  read(keys) {
    const attention = readGqa(keys, { qkNorm: keys.flagOr(false, 'use_qk_norm') });
    const moe = readMoe(keys, {
      inner: ['moe_intermediate_size'],
      scoring: 'sigmoid',
      fixed: { selectionBias: true },
    });
    const holdsExperts = denseFirst(keys, keys.count('num_hidden_layers'));
    return {
      moe,
      layers: layersOf(
        holdsExperts,
        moe,
        () => keys.count('intermediate_size'),
        () => attention,
      ),
      mtpLayerCount: keys.countOr(0, 'num_nextn_predict_layers'),
    };
  },
};
