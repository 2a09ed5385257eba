/**
 * Qwen3 mixtures: grouped-query attention with query-key norm, experts in every `decoder_sparse_step`-th layer.
 */
import { type Family, layersOf, readGqa, readMoe } from '../parts.js';

export const qwen3: Family = {
  modelTypes: ['qwen3_moe'],
  read(keys) {
    const attention = readGqa(keys, { qkNorm: true });
    const moe = readMoe(keys, { inner: ['moe_intermediate_size'], scoring: 'softmax', renormalize: false });
    const step = keys.countOr(1, 'decoder_sparse_step') || 1;
    const dense = keys.raw('mlp_only_layers') ?? [];
    keys.ignore('intermediate_size', 'sliding_window');
    const holdsExperts = Array.from(
      { length: keys.count('num_hidden_layers') },
      (_, index) => (index + 1) % step === 0 && !(Array.isArray(dense) && dense.includes(index)),
    );
    return {
      moe,
      layers: layersOf(
        holdsExperts,
        moe,
        () => keys.count('intermediate_size'),
        () => attention,
      ),
    };
  },
};
