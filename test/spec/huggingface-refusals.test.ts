/**
 * Configurations that cannot be read: which problems are reported, all of them, each with its place and repair.
 */
import { modelFromHuggingFace, modelPresets, parseScenario, UserError } from '@epsim/spec';
import { describe, expect, test } from 'vitest';
import { type Config, config, configText } from './fixtures.js';
import { stubCatalog } from './stub-catalog.js';

/** Problems of a configuration, as a user sees them after the file's name. */
function problems(content: Config): readonly string[] {
  const result = modelFromHuggingFace(content, { name: 'model', source: 'config.json' });
  if (result.ok) return [];
  return result.problems.map(({ path, kind, subject, value, help }) => {
    const what = [path.join('.'), `${kind} ${subject}`, value].filter((part) => part !== '').join(': ');
    return help === '' ? what : `${what}; ${help}`;
  });
}

/** What a user reads when the model of a scenario is this text. */
function refusal(text: string): string {
  try {
    parseScenario('model: m/config.json\ncluster: b200-8\n', {
      file: 's.yaml',
      catalog: stubCatalog,
      readFile: (path) => {
        if (path === 'm/config.json') return text;
        throw new Error('no such file');
      },
    });
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
  throw new Error('was accepted');
}

const without = (file: string, ...fields: readonly string[]): Config =>
  Object.fromEntries(Object.entries(config(file)).filter(([name]) => !fields.includes(name)));
const needed = (fields: string) => `missing field: ${fields}; this architecture needs it`;
const TOP_K = 'num_experts_per_tok or num_experts_per_token or moe_topk or experts_per_token';

describe('a mistake is one line with its place, its value and its repair', () => {
  const cases: readonly [string, Config, readonly string[]][] = [
    ['experts without top-k', without('deepseek-v3', 'num_experts_per_tok'), [needed(TOP_K)]],
    [
      'half of latent attention',
      without('deepseek-v3', 'kv_lora_rank', 'v_head_dim'),
      [needed('kv_lora_rank'), needed('v_head_dim')],
    ],
    [
      'a norm of latents without their width',
      { ...config('qwen3-235b-a22b'), latent_moe_use_norm: true },
      [needed('routed_expert_hidden_size or moe_latent_size')],
    ],
    [
      'half of a sparse indexer',
      without('deepseek-v3.2', 'index_n_heads', 'index_topk'),
      [needed('index_n_heads'), needed('index_topk')],
    ],
    [
      'a quantisation that is not known',
      { ...config('deepseek-v3'), quantization_config: { quant_method: 'exl9', bits: 3 } },
      [
        'quantization_config: unknown quantisation: exl9; known: fp8, mxfp4, mxfp8, compressed-tensors, modelopt, gptq, awq',
      ],
    ],
    [
      'key-value heads that do not divide heads',
      { ...config('qwen3-235b-a22b'), num_key_value_heads: 5 },
      ['num_key_value_heads: uneven heads: 5; must divide num_attention_heads, 64'],
    ],
    [
      'texts for numbers',
      { ...config('deepseek-v3'), hidden_size: '7168', n_routed_experts: '256', q_lora_rank: 'wide' },
      [
        'hidden_size: wrong value: "7168", a text; must be a whole number of at least 1',
        'q_lora_rank: wrong value: wide; must be a whole number from 1 to 1000000000',
        'n_routed_experts: wrong value: "256", a text; must be a whole number of at least 1',
      ],
    ],
    [
      'negative sizes',
      { ...config('deepseek-v3'), hidden_size: -7168, q_lora_rank: -1, n_shared_experts: -1 },
      [
        'hidden_size: wrong value: -7168; must be a whole number of at least 1',
        'q_lora_rank: wrong value: -1; must be a whole number from 1 to 1000000000',
        'n_shared_experts: wrong value: -1; must be a whole number up to 1000000000',
      ],
    ],
    [
      'more experts for a token than its groups hold',
      { ...config('deepseek-v3'), topk_group: 1, num_experts_per_tok: 33 },
      ['too many experts of a token: 33; a token may use 32 of the 256'],
    ],
    [
      'groups that are not equal',
      { ...config('deepseek-v3'), n_group: 7 },
      ['uneven groups: 256 experts in 7 groups; groups must be equal'],
    ],
    [
      'sizes that nothing could hold',
      { ...config('qwen3-235b-a22b'), num_experts: 1e8 },
      ['out of range moe.expertCount: 100000000; at most 65536'],
    ],
    [
      'a nested model of another architecture than its envelope',
      { ...config('kimi-k3'), text_config: config('qwen3-235b-a22b') },
      ['text_config.model_type: contradicting architecture: qwen3_moe; the model around it is kimi_k3'],
    ],
  ];
  test.each(cases)('%s', (_, content, expected) => {
    expect(problems(content)).toEqual(expected);
  });
});

describe('an architecture that nobody knows', () => {
  const zeta: Config = {
    model_type: 'zeta_moe',
    hidden_size: 4096,
    num_hidden_layers: 32,
    num_attention_heads: 32,
    vocab_size: 100_000,
    num_experts: 64,
    num_experts_per_tok: 4,
    moe_intermediate_size: 1024,
    intermediate_size: 8192,
    bos_token_id: 1,
  };

  test('says how to go on, and nothing else when every common size is there', () => {
    const [line, ...more] = problems(zeta);
    expect(line).toMatch(/^model_type: unknown architecture: zeta_moe; known: deepseek_v3, /);
    expect(line).toMatch(
      /; or write its sizes in the scenario: model: \{ shape: \.\.\. \}, see docs\/models\.md$/,
    );
    expect(more).toEqual([]);
  });

  test('names every field that it lacks and every field that no reader asks for', () => {
    const { vocab_size: _, num_experts_per_tok: __, ...rest } = zeta;
    expect(problems({ ...rest, zeta_width: 7, zeta_gate: { a: 1 } }).slice(1)).toEqual([
      needed('vocab_size'),
      needed(TOP_K),
      'zeta_width: unknown field: 7; no architecture that is known here has it',
      'zeta_gate: unknown field: {"a":1}; no architecture that is known here has it',
    ]);
  });

  test('none of many fields is cut short, and beyond a screenful they are counted', () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`zeta_field_${i}`, i]));
    const found = problems({ ...zeta, ...many(60) });
    expect(found).toHaveLength(61);
    for (const [i, line] of found.slice(1).entries())
      expect(line).toContain(`zeta_field_${i}: unknown field`);
    expect(problems({ ...zeta, ...many(100_000) }).at(-1)).toContain('unknown fields: 99940 more');
  });

  test('nested in another, it is told with the fields of both', () => {
    const nested: Config = { model_type: 'zeta_vl', text_config: { ...zeta, zeta_width: 7 }, projector: 3 };
    expect(problems(nested)).toEqual([
      expect.stringMatching(/^text_config\.model_type: unknown architecture: zeta_moe/),
      'text_config.zeta_width: unknown field: 7; no architecture that is known here has it',
      'projector: unknown field: 3; no architecture that is known here has it',
    ]);
    const { model_type: _, ...typeless } = zeta;
    expect(problems({ model_type: 'zeta_vl', text_config: typeless })[0]).toMatch(
      /^model_type: unknown .*zeta_vl/,
    );
  });

  test('an empty configuration lacks everything', () => {
    expect(problems({})).toEqual([
      expect.stringMatching(/^missing field: model_type; known: /),
      ...['hidden_size', 'vocab_size', 'num_hidden_layers', 'num_attention_heads'].map(needed),
      needed('n_routed_experts or num_experts or num_local_experts'),
      needed(TOP_K),
      needed('moe_intermediate_size or intermediate_size'),
    ]);
  });
});

describe('what is no configuration at all', () => {
  const fields = 'write fields, such as "model_type", as in a published config.json';
  test.each([
    ['an array', '[1, 2, 3]', `m/config.json:1: wrong configuration: [1,2,3]; ${fields}`],
    ['a text', 'hello', `m/config.json:1: wrong configuration: hello; ${fields}`],
    ['nothing', '', `m/config.json:1: empty configuration; ${fields}`],
    ['10 MB', 'x'.repeat(1e7), 'm/config.json:1: too long file: 10000000 characters; at most 4000000'],
    ['a million brackets', '['.repeat(1e6), 'm/config.json:1: invalid YAML: nested deeper than 40 levels'],
    [
      'a million levels',
      '{"a":'.repeat(1e6 / 5),
      'm/config.json:1: invalid YAML: nested deeper than 40 levels',
    ],
  ])('%s is one line', (_, text, expected) => {
    expect(refusal(text)).toBe(expected);
  });

  test('a text full of mistakes is refused in a few lines', () => {
    const broken = `{"a": [${'{"b": ]'.repeat(2000)}`;
    expect(refusal(broken).split('\n').length).toBeLessThanOrEqual(10);
  });

  test('a field that stands twice is told with its line', () => {
    const twice = configText('deepseek-v3').replace('{', '{\n"vocab_size": 7,');
    expect(refusal(twice)).toMatch(/^m\/config\.json:\d+: invalid YAML: Map keys must be unique$/);
  });
});

test('the layers of Nemotron-3 Ultra are read from a list of words as from letters', () => {
  const letters = config('nemotron-3-super-120b-a12b-fp8');
  const words = { M: 'mamba', E: 'moe', '*': 'attention' } as const;
  const { hybrid_override_pattern: pattern, num_hidden_layers: _, ...rest } = letters;
  const listed = {
    ...rest,
    layers_block_type: [...String(pattern)].map((l) => words[l as keyof typeof words]),
  };
  const read = (content: Config) => {
    const result = modelFromHuggingFace(content, { name: 'm', source: 's' });
    return result.ok ? result.model.layers : result.problems;
  };
  expect(read(listed)).toEqual(read(letters));
  expect(modelPresets['nemotron-3-ultra-550b-a55b'].layers).toHaveLength(108);
  expect(problems({ ...listed, layers_block_type: ['mamba', 'magic'] })[0]).toContain(
    'layers_block_type: unknown layer: magic; known: mamba, moe, attention, mlp',
  );
});
