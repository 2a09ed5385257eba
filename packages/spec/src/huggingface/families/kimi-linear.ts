/**
 * Kimi-Linear and Kimi K3: Kimi Delta Attention in most layers, latent attention in the others, by two lists of
 * layers counted from 1.
 */
import type { AttentionShape } from '../../model-shape.js';
import type { ConfigKeys } from '../config-keys.js';
import { denseFirst, type Family, layersOf, readMla, readMoe } from '../parts.js';

export const kimiLinear: Family = {
  modelTypes: ['kimi_linear', 'kimi_k3'],
  read(keys) {
    const layerCount = keys.count('num_hidden_layers');
    const full = readMla(keys);
    const linear = keys.nested('linear_attn_config');
    if (!linear) keys.refuse('', 'missing', 'field', 'linear_attn_config', 'this architecture needs it');
    const delta: AttentionShape = {
      kind: 'kda',
      headCount: linear?.count('num_heads') ?? 1,
      headDim: linear?.count('head_dim') ?? 1,
      convSize: linear?.count('short_conv_kernel_size') ?? 1,
      // The forget gate's inner size is the head size in the architecture's code.
      gateRank: linear?.count('head_dim') ?? 1,
      fullRankOutputGate: linear?.flagOr(false, 'use_full_rank_gate') ?? false,
      logDecayBound: linear?.numberOr(null, 'gate_lower_bound') ?? null,
    };
    const isFull = linear ? fullLayers(linear, layerCount) : new Set<number>();
    const moe = readMoe(keys, { inner: ['moe_intermediate_size'], fixed: { selectionBias: true } });
    return {
      moe,
      layers: layersOf(
        denseFirst(keys, layerCount),
        moe,
        () => keys.count('intermediate_size'),
        (index) => (isFull.has(index + 1) ? full : delta),
      ),
      mtpLayerCount: keys.countOr(0, 'num_nextn_predict_layers'),
      attnResBlockLayers: keys.sizeOr(null, 'attn_res_block_size'),
    };
  },
};

/** Layers of latent attention, from 1. Both lists together must hold every layer once. */
function fullLayers(linear: ConfigKeys, layerCount: number): ReadonlySet<number> {
  const lists = ['full_attn_layers', 'kda_layers'].map((name) => {
    const list = linear.raw(name);
    if (Array.isArray(list)) return list;
    linear.refuse(name, list === undefined ? 'missing' : 'wrong', 'list', list, 'must list layers, from 1');
    return [];
  });
  const all = lists.flat();
  for (let layer = 1; layer <= layerCount; layer++) {
    const times = all.filter((entry) => entry === layer).length;
    if (times === 1) continue;
    const what = times === 0 ? 'is in neither list' : 'is listed more than once';
    linear.refuse(
      '',
      'wrong',
      'layer',
      layer,
      `${what}; full_attn_layers and kda_layers must share all layers`,
    );
    break;
  }
  if (all.length > layerCount)
    linear.refuse('', 'too many', 'layers', all.length, `the model has ${layerCount}`);
  return new Set(lists[0] as number[]);
}
