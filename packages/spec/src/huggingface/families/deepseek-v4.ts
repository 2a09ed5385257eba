/**
 * DeepSeek-V4: one shared key-value head over a window and compressed blocks, experts in every layer, four residual
 * streams. `compress_ratios` says layer by layer how many tokens make a block: 4 with an indexer, 128 without, 0 for
 * the window alone; its entries beyond the last layer belong to the extra prediction layers.
 */
import type { SharedKvMqa } from '../../presets/models/parts.js';
import type { ConfigKeys } from '../config-keys.js';
import { type Family, layersOf, readMoe } from '../parts.js';

export const deepseekV4: Family = {
  modelTypes: ['deepseek_v4'],
  read(keys) {
    const layerCount = keys.count('num_hidden_layers');
    const mtpLayerCount = keys.countOr(0, 'num_nextn_predict_layers');
    const ratios = compressRatios(keys, layerCount, mtpLayerCount);
    const attention = readAttention(keys);
    const moe = readMoe(keys, { inner: ['moe_intermediate_size'] });
    sayWhatIsLeftOut(keys);
    return {
      moe,
      layers: layersOf(
        Array.from({ length: layerCount }, () => true),
        moe,
        () => 1,
        (index) => attention(ratios[index] ?? 0),
      ),
      mtpLayerCount,
      residualStreams: keys.countOr(1, 'hc_mult') || 1,
    };
  },
};

/** The attention of a layer by the tokens of its blocks; equal layers share one object. */
function readAttention(keys: ConfigKeys): (ratio: number) => SharedKvMqa {
  const headDim = keys.count('head_dim');
  const ropeHeadDim = keys.count('qk_rope_head_dim');
  const nope = keys.countOr(headDim - ropeHeadDim, 'qk_nope_head_dim');
  if (nope !== headDim - ropeHeadDim) {
    keys.refuse(
      'qk_nope_head_dim',
      'wrong',
      'width',
      nope,
      `head_dim - qk_rope_head_dim is ${headDim - ropeHeadDim}`,
    );
  }
  const kvHeads = keys.countOr(1, 'num_key_value_heads');
  if (kvHeads !== 1) {
    keys.refuse(
      'num_key_value_heads',
      'unknown',
      'shape',
      kvHeads,
      'this architecture has one shared key-value head',
    );
  }
  const sizes = {
    kind: 'shared-kv-mqa',
    headCount: keys.count('num_attention_heads'),
    headDim,
    ropeHeadDim,
    qLoraRank: keys.count('q_lora_rank'),
    outputGroupCount: keys.count('o_groups'),
    outputLoraRank: keys.count('o_lora_rank'),
    windowTokens: keys.count('sliding_window'),
  } as const;
  const indexer = {
    headCount: keys.count('index_n_heads'),
    headDim: keys.count('index_head_dim'),
    topK: keys.count('index_topk'),
  };
  if (sizes.headCount % sizes.outputGroupCount !== 0) {
    keys.refuse(
      'o_groups',
      'uneven',
      'groups',
      sizes.outputGroupCount,
      `must divide the ${sizes.headCount} heads`,
    );
  }
  const kinds: Readonly<Record<number, SharedKvMqa>> = {
    0: { ...sizes, compression: null },
    4: { ...sizes, compression: { ratio: 4, overlapping: true, indexer } },
    128: { ...sizes, compression: { ratio: 128, overlapping: false, indexer: null } },
  };
  return (ratio) => kinds[ratio];
}

const RATIOS = [0, 4, 128];

/** Tokens of a block, one for each layer. */
function compressRatios(keys: ConfigKeys, layerCount: number, mtpLayerCount: number): readonly number[] {
  const list = keys.raw('compress_ratios');
  if (list === undefined) {
    keys.refuse('', 'missing', 'field', 'compress_ratios', 'this architecture needs it');
    return [];
  }
  if (!Array.isArray(list) || (list.length !== layerCount && list.length !== layerCount + mtpLayerCount)) {
    const length = Array.isArray(list) ? list.length : list;
    keys.refuse(
      'compress_ratios',
      'wrong',
      'length',
      length,
      `must be the ${layerCount} layers, and ${mtpLayerCount} more at most`,
    );
    return [];
  }
  const strange = list.find((ratio) => !RATIOS.includes(ratio as number));
  if (strange !== undefined) {
    keys.refuse('compress_ratios', 'unknown', 'ratio', strange, `known: ${RATIOS.join(', ')}`);
    return [];
  }
  const [last, extra] = [list[layerCount - 1], list.slice(layerCount)];
  if (extra.some((ratio) => ratio !== last)) {
    keys.assumptions.push(
      'extra prediction layers are counted like the last layer, whose attention has more parts',
    );
  }
  return list as number[];
}

/** What the architecture has and sizes and times here do not. */
function sayWhatIsLeftOut(keys: ConfigKeys): void {
  const hashLayers = keys.countOr(0, 'num_hash_layers');
  if (hashLayers > 0) {
    keys.assumptions.push(
      `the first ${hashLayers} layers choose experts by a table of token ids in the model, by scores here`,
    );
  }
  const limit = keys.numberOr(null, 'swiglu_limit');
  if (limit !== null) {
    keys.assumptions.push(`activations are clamped at ${limit} in the model, which is left out`);
  }
  keys.ignore('attention_bias', 'hc_sinkhorn_iters', 'compress_rope_theta', 'compress_rope_parameters');
}
