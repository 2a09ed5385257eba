/**
 * Mixtral: experts in every layer, `intermediate_size` wide, softmax over the chosen two.
 */
import { type Family, layersOf, readGqa, readMoe } from '../parts.js';

export const mixtral: Family = {
  modelTypes: ['mixtral'],
  read(keys) {
    const attention = readGqa(keys, { windowTokens: keys.sizeOr(null, 'sliding_window') });
    const moe = readMoe(keys, { inner: ['intermediate_size'], scoring: 'softmax', renormalize: true });
    const holdsExperts = Array.from({ length: keys.count('num_hidden_layers') }, () => true);
    return {
      moe,
      layers: layersOf(
        holdsExperts,
        moe,
        () => 1,
        () => attention,
      ),
    };
  },
};
