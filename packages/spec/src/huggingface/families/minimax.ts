/**
 * MiniMax-M2 and M3: grouped-query attention, a sigmoid router with a selection bias. `intermediate_size` is the
 * expert's; M3 states the dense and the shared size apart.
 */
import { denseFirst, type Family, layersOf, readGqa, readMoe } from '../parts.js';

export const minimax: Family = {
  modelTypes: ['minimax_m2', 'minimax_m3', 'minimax_m3_vl'],
  read(keys) {
    const attention = readGqa(keys, {
      qkNorm: keys.flagOr(false, 'use_qk_norm'),
      outputGate: keys.flagOr(false, 'attention_output_gate'),
    });
    const sharedInnerSize = keys.countOr(0, 'shared_intermediate_size');
    const moe = readMoe(keys, {
      inner: ['moe_intermediate_size', 'intermediate_size'],
      renormalize: true,
      fixed: {
        sharedExpertCount: sharedInnerSize > 0 ? keys.countOr(1, 'n_shared_experts') : 0,
        sharedInnerSize,
      },
    });
    const holdsExperts = denseFirst(keys, keys.count('num_hidden_layers'));
    const limit = keys.numberOr(null, 'swiglu_limit');
    if (limit !== null)
      keys.assumptions.push(`activations are clamped at ${limit} in the model, which is left out`);
    if (keys.raw('sparse_attention_config') !== undefined) {
      keys.assumptions.push('sparse attention is counted as attention over the whole prefix');
    }
    keys.ignore('swiglu_alpha', 'use_gemma_norm');
    const predicts = keys.flagOr(true, 'use_mtp');
    const mtpLayerCount = keys.countOr(0, 'num_mtp_modules', 'num_nextn_predict_layers');
    return {
      moe,
      layers: layersOf(
        holdsExperts,
        moe,
        () => keys.count('dense_intermediate_size'),
        () => attention,
      ),
      mtpLayerCount: predicts ? mtpLayerCount : 0,
    };
  },
};
