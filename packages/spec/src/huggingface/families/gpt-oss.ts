/**
 * gpt-oss: biases everywhere, a sink for each head, windows in every second layer, softmax over the chosen experts.
 */
import { type Family, layersOf, layerTypes, readGqa, readMoe } from '../parts.js';

export const gptOss: Family = {
  modelTypes: ['gpt_oss'],
  read(keys) {
    const layerCount = keys.count('num_hidden_layers');
    const full = readGqa(keys, { sinks: true });
    const windowed = { ...full, windowTokens: keys.count('sliding_window') };
    const types = layerTypes(keys, layerCount, ['sliding_attention', 'full_attention']);
    if (!types && keys.raw('layer_types') === undefined) {
      keys.refuse('', 'missing', 'field', 'layer_types', 'this architecture needs it');
    }
    const moe = readMoe(keys, {
      inner: ['intermediate_size'],
      scoring: 'softmax-over-top-k',
      renormalize: true,
      fixed: { bias: true },
    });
    const limit = keys.numberOr(null, 'swiglu_limit');
    if (limit !== null)
      keys.assumptions.push(`activations are clamped at ${limit} in the model, which is left out`);
    return {
      moe,
      layers: layersOf(
        Array.from({ length: layerCount }, () => true),
        moe,
        () => 1,
        (index) => (types?.[index] === 'sliding_attention' ? windowed : full),
      ),
    };
  },
};
