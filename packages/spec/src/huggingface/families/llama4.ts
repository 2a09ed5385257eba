/**
 * Llama 4: one sigmoid-gated expert of many plus a shared one, in every `interleave_moe_layer_step`-th layer.
 * `intermediate_size` is the expert's, routed and shared; dense layers are `intermediate_size_mlp` wide.
 */
import { type Family, layersOf, readGqa, readMoe } from '../parts.js';

export const llama4: Family = {
  modelTypes: ['llama4', 'llama4_text'],
  read(keys) {
    const layerCount = keys.count('num_hidden_layers');
    const full = readGqa(keys);
    const chunk = keys.sizeOr(null, 'attention_chunk_size');
    const step = keys.count('interleave_moe_layer_step');
    const listed = keys.raw('moe_layers');
    const moe = readMoe(keys, {
      inner: ['intermediate_size'],
      scoring: 'sigmoid',
      renormalize: false,
      fixed: { sharedExpertCount: 1, sharedInnerSize: keys.count('intermediate_size'), selectionBias: false },
    });
    const holdsExperts = Array.from({ length: layerCount }, (_, index) =>
      Array.isArray(listed) ? listed.includes(index) : (index + 1) % step === 0,
    );
    if (chunk !== null) {
      keys.assumptions.push(`attention in chunks of ${chunk} tokens is counted as a window of that size`);
    }
    // Every fourth layer has no rotary positions and attends to the whole prefix.
    const isChunked = (index: number) => chunk !== null && (index + 1) % 4 !== 0;
    keys.ignore('no_rope_layers', 'use_qk_norm');
    return {
      moe,
      layers: layersOf(
        holdsExperts,
        moe,
        () => keys.count('intermediate_size_mlp'),
        (index) => (isChunked(index) ? { ...full, windowTokens: chunk } : full),
      ),
    };
  },
};
