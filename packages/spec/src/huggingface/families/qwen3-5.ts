/**
 * Qwen3-Next and Qwen3.5: Gated DeltaNet in three layers of four, gated attention in the fourth, one shared expert.
 */
import type { AttentionShape } from '../../model-shape.js';
import { type Family, layersOf, layerTypes, readGqa, readMoe } from '../parts.js';

export const qwen35: Family = {
  modelTypes: ['qwen3_next', 'qwen3_5_moe', 'qwen3_5_moe_text'],
  read(keys) {
    const layerCount = keys.count('num_hidden_layers');
    const full = readGqa(keys, { qkNorm: true, outputGate: keys.flagOr(true, 'attn_output_gate') });
    const headDim = keys.count('linear_key_head_dim');
    if (keys.count('linear_value_head_dim') !== headDim) {
      keys.refuse(
        'linear_value_head_dim',
        'unknown',
        'shape',
        keys.raw('linear_value_head_dim'),
        `only ${headDim}, the key's size`,
      );
    }
    const delta: AttentionShape = {
      kind: 'gated-delta-net',
      keyHeadCount: keys.count('linear_num_key_heads'),
      valueHeadCount: keys.count('linear_num_value_heads'),
      headDim,
      convSize: keys.count('linear_conv_kernel_dim'),
    };
    const types = layerTypes(keys, layerCount, ['linear_attention', 'full_attention']);
    const every = keys.countOr(4, 'full_attention_interval') || 4;
    const isFull = (index: number) => (types ? types[index] === 'full_attention' : (index + 1) % every === 0);
    const sharedInnerSize = keys.countOr(0, 'shared_expert_intermediate_size');
    const moe = readMoe(keys, {
      inner: ['moe_intermediate_size'],
      scoring: 'softmax',
      renormalize: true,
      fixed: { sharedExpertCount: sharedInnerSize > 0 ? 1 : 0, sharedInnerSize },
    });
    keys.ignore(
      'intermediate_size',
      'decoder_sparse_step',
      'mlp_only_layers',
      'mtp_use_dedicated_embeddings',
    );
    return {
      moe,
      layers: layersOf(
        Array.from({ length: layerCount }, () => true),
        moe,
        () => 1,
        (index) => (isFull(index) ? full : delta),
      ),
      mtpLayerCount: keys.countOr(0, 'mtp_num_hidden_layers'),
    };
  },
};
