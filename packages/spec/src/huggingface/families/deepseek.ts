/**
 * DeepSeek-V3 and what was built on its code: V3.2, Kimi K2 and K2.5, GLM-5.
 */
import { denseFirst, type Family, layersOf, readMla, readMoe } from '../parts.js';

export const deepseek: Family = {
  modelTypes: ['deepseek_v3', 'deepseek_v32', 'kimi_k2', 'glm_moe_dsa'],
  read(keys) {
    const attention = readMla(keys);
    const moe = readMoe(keys, { inner: ['moe_intermediate_size'] });
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
