/**
 * Nemotron-H: a pattern with one letter for each layer. M is a Mamba-2 mixer, E a layer of experts on latents,
 * * attention, - a dense block; no layer holds both a mixer and a feed-forward block.
 */
import type { Plain } from '../../document.js';
import { MOST_LAYERS } from '../../limits.js';
import type { AttentionShape, LayerShape } from '../../model-shape.js';
import { dense } from '../../presets/models/parts.js';
import type { ConfigKeys } from '../config-keys.js';
import { type Family, readGqa, readMoe } from '../parts.js';

/** Letters of the words that newer configurations list instead of a pattern. */
const LETTERS: Readonly<Record<string, string>> = { mamba: 'M', moe: 'E', attention: '*', mlp: '-' };

function lettersOf(keys: ConfigKeys, blocks: Plain): string {
  const list = Array.isArray(blocks) ? blocks : [];
  const strange = list.find((block) => !Object.hasOwn(LETTERS, String(block)));
  if (list.length === 0 || list.length > MOST_LAYERS) {
    keys.refuse('layers_block_type', 'wrong', 'length', list.length, `must be 1 to ${MOST_LAYERS} layers`);
  } else if (strange !== undefined) {
    keys.refuse(
      'layers_block_type',
      'unknown',
      'layer',
      strange,
      `known: ${Object.keys(LETTERS).join(', ')}`,
    );
  }
  keys.ignore('hybrid_override_pattern', 'num_hidden_layers');
  return list.map((block) => LETTERS[String(block)] ?? '').join('');
}

export const nemotronH: Family = {
  modelTypes: ['nemotron_h'],
  read(keys) {
    const attention = readGqa(keys);
    const mixer: AttentionShape = {
      kind: 'mamba2',
      headCount: keys.count('mamba_num_heads'),
      headDim: keys.count('mamba_head_dim'),
      groupCount: keys.count('n_groups'),
      stateSize: keys.count('ssm_state_size'),
      convSize: keys.count('conv_kernel'),
    };
    const moe = readMoe(keys, {
      inner: ['moe_intermediate_size'],
      scoring: 'sigmoid',
      fixed: {
        selectionBias: true,
        gated: false,
        sharedInnerSize: keys.countOr(0, 'moe_shared_expert_intermediate_size'),
      },
    });
    const kinds: Readonly<Record<string, () => LayerShape>> = {
      M: () => ({ attention: mixer, ffn: null }),
      E: () => ({ attention: null, ffn: moe }),
      '*': () => ({ attention, ffn: null }),
      '-': () => ({ attention: null, ffn: dense(keys.count('intermediate_size')) }),
    };
    const blocks = keys.raw('layers_block_type');
    const pattern =
      blocks === undefined ? keys.textOr('', 'hybrid_override_pattern') : lettersOf(keys, blocks);
    const layerCount = blocks === undefined ? keys.count('num_hidden_layers') : pattern.length;
    const strange = [...pattern].find((letter) => !Object.hasOwn(kinds, letter));
    if (strange !== undefined) {
      keys.refuse('hybrid_override_pattern', 'unknown', 'layer', strange, 'known: M, E, * and -');
    }
    if (pattern.length !== layerCount) {
      const help = `must have one letter for each of the ${layerCount} layers`;
      keys.refuse('hybrid_override_pattern', 'wrong', 'length', pattern.length, help);
    }
    keys.ignore(
      'intermediate_size',
      'sliding_window',
      'mtp_hybrid_override_pattern',
      'mtp_layers_block_type',
    );
    return {
      moe,
      layers: [...pattern].filter((letter) => Object.hasOwn(kinds, letter)).map((letter) => kinds[letter]()),
      mtpLayerCount: keys.countOr(0, 'num_nextn_predict_layers'),
    };
  },
};
