import {
  bytesPerElement,
  type ModelShape,
  modelFromHuggingFace,
  modelPresets,
  precisions,
} from '@epsim/spec';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Config, type ConfigValue, config } from './fixtures.js';

function shape(content: Config, name = 'model', quantConfig?: Config): ModelShape {
  const result = modelFromHuggingFace(content, { name, source: `${name}/config.json`, quantConfig });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.model;
}

function problems(content: Config): string[] {
  const result = modelFromHuggingFace(content, { name: 'model', source: 'config.json' });
  if (result.ok) throw new Error('was read');
  return result.problems.map((p) => `${p.path.join('.')}: ${p.kind} ${p.subject}: ${p.value}; ${p.help}`);
}

const expertLayers = (model: ModelShape) => model.layers.filter((layer) => layer.ffn?.kind === 'moe').length;

/** Elements of all routed experts. */
function routedElements(model: ModelShape): number {
  const { expertCount, expertWidth, expertInnerSize, gated } = model.moe;
  return expertLayers(model) * expertCount * (gated ? 3 : 2) * expertWidth * expertInnerSize;
}

const routedBytes = (model: ModelShape) =>
  routedElements(model) * bytesPerElement(model.precision.routedExperts);

describe('the preset of a published model equals what its configuration says', () => {
  const published: readonly [keyof typeof modelPresets, string][] = [
    ['kimi-k3', 'kimi-k3'],
    ['kimi-k2', 'kimi-k2'],
    ['kimi-k2.5', 'kimi-k2.5'],
    ['deepseek-v3', 'deepseek-v3'],
    ['deepseek-v3.2', 'deepseek-v3.2'],
    ['qwen3-235b-a22b', 'qwen3-235b-a22b'],
    ['gpt-oss-120b', 'gpt-oss-120b'],
    ['minimax-m2.5', 'minimax-m2.5'],
    ['mixtral-8x7b', 'mixtral-8x7b'],
    ['llama-4-maverick', 'llama-4-maverick'],
  ];
  test.each(published)('%s', (name, file) => {
    const preset: ModelShape = modelPresets[name];
    expect({ ...shape(config(file)), name, source: preset.source }).toEqual(preset);
  });

  test('GLM-5 and Nemotron-3 Super, whose files do not state their precision', () => {
    for (const [name, file] of [
      ['glm-5', 'glm-5-nvfp4'],
      ['nemotron-3-super-120b-a12b', 'nemotron-3-super-120b-a12b-fp8'],
    ] as const) {
      const { assumptions: _, ...preset }: ModelShape = modelPresets[name];
      expect({ ...shape(config(file)), name, source: preset.source }).toMatchObject(preset);
    }
  });
});

describe('DeepSeek-V4', () => {
  /** DeepSeek states FP8 for the whole model and FP4 for its experts apart. */
  const fp8: Config = { quant_method: 'fp8', scale_fmt: 'ue8m0', weight_block_size: [128, 128] };
  const pro = () => config('deepseek-v4-pro-nvfp4');

  test.each(['pro', 'flash'] as const)('%s equals its preset', (size) => {
    const preset: ModelShape = modelPresets[`deepseek-v4-${size}`];
    const read = shape({ ...config(`deepseek-v4-${size}-nvfp4`), quantization_config: fp8 });
    expect({ ...read, name: preset.name, source: preset.source }).toEqual(preset);
  });

  test('experts are FP4 where nothing else is stated, NVFP4 where the file beside it says so', () => {
    expect(shape(pro()).precision).toEqual({ routedExperts: precisions.mxfp4, rest: precisions.bf16 });
    const layers = { 'layers.0.ffn.experts': { quant_algo: 'NVFP4', group_size: 16 } };
    const beside = { quantization: { quant_algo: 'MIXED_PRECISION', quantized_layers: layers } };
    expect(shape(pro(), 'pro', beside).precision.routedExperts).toEqual(precisions.nvfp4);
    expect(problems({ ...pro(), expert_dtype: 'fp3' })).toContain(
      'expert_dtype: unknown format: fp3; known: fp4, fp8',
    );
  });

  test.each([
    [{ compress_ratios: undefined }, 'missing field: compress_ratios'],
    [
      { compress_ratios: [0, 4] },
      'compress_ratios: wrong length: 2; must be the 61 layers, and 1 more at most',
    ],
    [
      { compress_ratios: Array.from({ length: 61 }, () => 8) },
      'compress_ratios: unknown ratio: 8; known: 0, 4, 128',
    ],
    [{ qk_nope_head_dim: 64 }, 'qk_nope_head_dim: wrong width: 64; head_dim - qk_rope_head_dim is 448'],
    [{ o_groups: 3 }, 'o_groups: uneven groups: 3; must divide the 128 heads'],
    [{ num_key_value_heads: 8 }, 'num_key_value_heads: unknown shape: 8; this architecture has one'],
  ])('%o is refused', (change, words) => {
    const changed = Object.entries({ ...pro(), ...change }).filter(([, value]) => value !== undefined);
    expect(problems(Object.fromEntries(changed) as Config).join('\n')).toContain(words);
  });
});

test('K3 is read without anything assumed, from fields nested under text_config', () => {
  const k3 = shape(config('kimi-k3'), 'kimi-k3');
  expect(k3.assumptions).toEqual([]);
  expect(k3.layers).toHaveLength(93);
  expect(k3.layers.filter((layer) => layer.attention?.kind === 'kda')).toHaveLength(69);
  expect(k3.layers.slice(-2).map((layer) => layer.attention?.kind)).toEqual(['mla', 'mla']);
  expect(routedElements(k3)).toBe(92 * 896 * 3 * 3584 * 3072);
  expect(routedBytes(k3) / 1e12).toBeCloseTo(1.4465, 4);
});

describe('layers of experts between dense layers', () => {
  test('Maverick has experts at odd layers, and dense layers of their own size', () => {
    const maverick = shape(config('llama-4-maverick'));
    expect(expertLayers(maverick)).toBe(24);
    expect(maverick.layers[1].ffn?.kind).toBe('moe');
    expect(maverick.layers[0].ffn).toEqual({ kind: 'dense', innerSize: 16_384 });
    expect(routedElements(maverick)).toBe(386_547_056_640);
    expect(maverick.hiddenSize).toBe(5120);
    expect(maverick.layers).toHaveLength(48);
  });

  test('a step of 1, as in Scout, has experts in every layer and needs no dense size', () => {
    const scout = config('llama-4-maverick');
    Object.assign(scout.text_config as Config, { interleave_moe_layer_step: 1, num_local_experts: 16 });
    delete (scout.text_config as Config).intermediate_size_mlp;
    expect(expertLayers(shape(scout))).toBe(48);
  });

  test('the vision part changes nothing in the text part', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('hidden_size', 'num_hidden_layers', 'num_experts'), fc.nat()),
        (vision) => {
          const changed = { ...config('llama-4-maverick'), vision_config: vision };
          expect(shape(changed)).toEqual(shape(config('llama-4-maverick')));
        },
      ),
      { numRuns: 20 },
    );
  });

  test('first_k_dense_replace, moe_layer_freq and decoder_sparse_step choose layers', () => {
    const v3 = config('deepseek-v3');
    expect(expertLayers(shape({ ...v3, moe_layer_freq: 2 }))).toBe(29);
    expect(expertLayers(shape({ ...v3, moe_layer_freq: Array.from({ length: 61 }, (_, i) => i % 2) }))).toBe(
      30,
    );
    expect(problems({ ...v3, moe_layer_freq: [0, 1] })[0]).toContain('must be the 61 layers');
    const qwen = config('qwen3-235b-a22b');
    expect(expertLayers(shape({ ...qwen, decoder_sparse_step: 2 }))).toBe(47);
    expect(expertLayers(shape({ ...qwen, mlp_only_layers: [0, 1] }))).toBe(92);
  });
});

describe('precision', () => {
  const glm = () => config('glm-5-nvfp4');

  test('a file that states none is BF16 with a warning that takes up the hint of its name', () => {
    const model = shape(glm(), 'GLM-5-NVFP4');
    expect(model.precision.routedExperts).toEqual(precisions.bf16);
    expect(model.assumptions.join()).toMatch(/precision not stated: BF16 assumed, but the name says NVFP4/);
    expect(routedElements(model)).toBe(724_775_731_200);
    expect(routedBytes(model)).toBe(1_449_551_462_400);
    const silent: Config = { ...glm() };
    delete silent.dtype;
    expect(shape(silent, 'glm').assumptions.join()).toContain('precision not stated: BF16 assumed');
  });

  test('NVFP4 beside the file counts one scale byte for every 16 weights', () => {
    for (const quantConfig of [
      { quant_algo: 'NVFP4', group_size: 16 },
      { producer: { name: 'modelopt' }, quantization: { quant_algo: 'NVFP4', group_size: 16 } },
      {
        quantization: {
          quant_algo: 'NVFP4',
          exclude_modules: ['lm_head', 'model.layers.*.self_attn*', '*shared_experts*', '*.mlp.gate_proj'],
        },
      },
    ]) {
      const model = shape(glm(), 'GLM-5-NVFP4', quantConfig);
      expect(routedBytes(model)).toBe((724_775_731_200 * 9) / 16);
      expect(model.precision.rest).toEqual(precisions.bf16);
    }
  });

  test('packed INT4 counts only the modules that its ignore list leaves', () => {
    const model = shape(config('kimi-k2.5'));
    expect(model.precision).toEqual({ routedExperts: precisions.int4, rest: precisions.bf16 });
    expect(model.assumptions).toEqual([]);
    expect(routedElements(model)).toBe(1_014_686_023_680);
    expect(routedBytes(model) / 1e9).toBeCloseTo(570.76, 2);
    // Stored eight to an int32, as the file has them.
    expect((routedElements(model) * 4) / 32).toBe(126_835_752_960);
    const all = config('kimi-k2.5');
    ((all.text_config as Config).quantization_config as Config).ignore = ['lm_head'];
    expect(shape(all).precision.rest.name).toBe('int4');
    ((all.text_config as Config).quantization_config as Config).ignore = ['re:.*self_attn.*'];
    expect(shape(all).assumptions.join()).toContain(
      'shared experts and dense layers are quantised and attention are not',
    );
  });

  test('MXFP4 leaves attention, router and head alone', () => {
    const model = shape(config('gpt-oss-120b'));
    expect(model.precision).toEqual({ routedExperts: precisions.mxfp4, rest: precisions.bf16 });
    const windows = model.layers.map((layer) =>
      layer.attention?.kind === 'gqa' ? layer.attention.windowTokens : 0,
    );
    expect(windows.slice(0, 4)).toEqual([128, null, 128, null]);
    expect(model.layers[0].attention).toMatchObject({ bias: true, sinks: true });
    expect(model.moe.bias).toBe(true);
  });

  test('FP8 counts one FP32 scale for a block', () => {
    const v3 = shape(config('deepseek-v3'));
    expect(v3.precision.rest).toEqual({ name: 'fp8', bits: 8, groupSize: 16_384, scaleBits: 32 });
    const perTensor: Config = { ...config('deepseek-v3'), quantization_config: { quant_method: 'fp8' } };
    expect(shape(perTensor).precision.rest).toMatchObject({ bits: 8, groupSize: 0 });
  });

  test('a scheme that is not known is refused, never guessed', () => {
    const strange: Config = { ...config('deepseek-v3'), quantization_config: { quant_method: 'exl9' } };
    expect(problems(strange)[0]).toMatch(/unknown quantisation: exl9; known: fp8, mxfp4/);
    const regex = config('kimi-k2.5');
    ((regex.text_config as Config).quantization_config as Config).ignore = ['re:(('];
    expect(problems(regex)[0]).toContain('invalid regex');
  });
});

describe('what cannot be read', () => {
  test('an unknown architecture says what it lacks and what nobody knows', () => {
    const found = problems({
      model_type: 'deepseek_v9',
      hidden_size: 64,
      num_experts: 8,
      mystery_width: 3,
      bos_token_id: 1,
    });
    expect(found[0]).toContain('model_type: unknown architecture: deepseek_v9; did you mean deepseek_v3?');
    expect(found.join('\n')).toContain('missing field: vocab_size');
    expect(found.join('\n')).toContain('missing field: num_experts_per_tok or num_experts_per_token');
    expect(found.join('\n')).toContain('mystery_width: unknown field: 3; no architecture that is known here');
    expect(found.join('\n')).not.toContain('missing field: hidden_size');
    expect(found.join('\n')).not.toContain('bos_token_id');
    expect(problems({})[0]).toContain('missing field: model_type');
  });

  test.each([
    ['num_hidden_layers', 20_000, 'out of range : 20000; must be at most 10000'],
    ['hidden_size', 2e9, 'out of range : 2000000000; must be at most 1000000000'],
    ['hidden_size', 0, 'wrong value: 0; must be a whole number of at least 1'],
  ])('%s of %f is refused with what it may be', (field, value, words) => {
    expect(problems({ ...config('deepseek-v3'), [field]: value })).toContain(`${field}: ${words}`);
  });

  test('every field that a known architecture needs is missed when it is gone', () => {
    const needed = {
      'deepseek-v3': [
        'hidden_size',
        'vocab_size',
        'kv_lora_rank',
        'n_routed_experts',
        'num_experts_per_tok',
        'scoring_func',
        'intermediate_size',
      ],
      'gpt-oss-120b': ['layer_types', 'sliding_window', 'num_local_experts', 'intermediate_size'],
      'nemotron-3-super-120b-a12b-fp8': [
        'mamba_num_heads',
        'hybrid_override_pattern',
        'moe_intermediate_size',
      ],
      'minimax-m2.5': ['num_local_experts', 'scoring_func', 'max_position_embeddings'],
    };
    for (const [file, fields] of Object.entries(needed)) {
      for (const field of fields) {
        const { [field]: _, ...rest } = config(file);
        expect(problems(rest).join('\n'), `${file} without ${field}`).toContain(field);
      }
    }
  });

  test('a field that nobody reads is named, a nested null is absent', () => {
    const more = shape({ ...config('deepseek-v3'), expert_hats: 3, q_norm_hats: null });
    expect(more.assumptions).toEqual(['fields not known here and left out: expert_hats']);
  });

  test('two spellings must agree', () => {
    expect(problems({ ...config('gpt-oss-120b'), experts_per_token: 8 })[0]).toContain(
      'experts_per_token: contradicting field: 8; num_experts_per_tok says 4',
    );
  });

  test('layer lists of K3 must share all layers', () => {
    const k3 = config('kimi-k3');
    const lists = (k3.text_config as Config).linear_attn_config as Config;
    (lists.kda_layers as number[]).pop();
    expect(problems(k3)[0]).toContain('text_config.linear_attn_config: wrong layer: 91; is in neither list');
  });

  test('a configuration with any value replaced is read or refused, and nothing else', () => {
    const files = [
      'kimi-k3',
      'kimi-k2.5',
      'gpt-oss-120b',
      'nemotron-3-super-120b-a12b-fp8',
      'llama-4-maverick',
      'glm-5-nvfp4',
    ];
    const strange = fc.constantFrom<ConfigValue>(
      null,
      true,
      0,
      -1,
      1.5,
      1e300,
      '',
      'x',
      [],
      ['re:(a+)+$'],
      {},
      { a: { b: 1 } },
    );
    fc.assert(
      fc.property(fc.constantFrom(...files), fc.nat(), fc.boolean(), strange, (file, pick, nested, value) => {
        const content = config(file);
        const inner = nested && content.text_config ? (content.text_config as Config) : content;
        const keys = Object.keys(inner);
        inner[keys[pick % keys.length]] = value;
        const result = modelFromHuggingFace(content, { name: file, source: file });
        expect(result.ok ? result.model.layers.length > 0 : result.problems.length > 0).toBe(true);
      }),
      { numRuns: 400 },
    );
  });
});
