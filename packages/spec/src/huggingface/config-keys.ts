/**
 * A published configuration, read by field names that differ between publishers.
 * The one idea: every field that is asked for is remembered, so that what nobody asked for can be named,
 * and a field that is missing or wrong is a problem, never a default.
 */
import type { Path, Plain, PlainObject } from '../document.js';
import { shownValue } from '../errors.js';
import type { Finding } from '../findings.js';
import { MOST_LAYERS, MOST_OF_A_SIZE } from '../limits.js';
import { isObject } from '../reader.js';

/** Fields are looked up under several spellings; null counts as absent. Wrong values are reported and replaced. */
export interface ConfigKeys {
  readonly problems: Finding[];
  readonly assumptions: string[];
  /** A whole number of at least 1. */
  count(...names: readonly string[]): number;
  /** The same, or `absent` where no spelling is present. Zero is allowed. */
  countOr<T>(absent: T, ...names: readonly string[]): number | T;
  /** The same, zero apart. */
  sizeOr<T>(absent: T, ...names: readonly string[]): number | T;
  numberOr<T>(absent: T, ...names: readonly string[]): number | T;
  flagOr<T>(absent: T, ...names: readonly string[]): boolean | T;
  textOr<T>(absent: T, ...names: readonly string[]): string | T;
  /** The raw value of the first spelling that is present. */
  raw(...names: readonly string[]): Plain | undefined;
  /** The same reader for a nested object. */
  nested(name: string): ConfigKeys | undefined;
  /** Reports something about a field. */
  refuse(name: string, kind: string, subject: string, value: unknown, help: string): void;
  /** Fields that say nothing about sizes here. */
  ignore(...names: readonly string[]): void;
  /** Fields that are present and were never asked for. */
  unread(): readonly string[];
}

export function configKeys(
  config: PlainObject,
  at: Path = [],
  problems: Finding[] = [],
  assumptions: string[] = [],
): ConfigKeys {
  const asked = new Set<string>();
  const refuse: ConfigKeys['refuse'] = (name, kind, subject, value, help) => {
    const path = name === '' ? at : [...at, name];
    const problem = { path, kind, subject, value: shownValue(value), help };
    // A field that two parts of an architecture ask for is one mistake.
    if (!problems.some((known) => JSON.stringify(known) === JSON.stringify(problem))) problems.push(problem);
  };
  const find = finder(config, asked, refuse);
  const typed = <T, V>(
    names: readonly string[],
    absent: T,
    wanted: string,
    accept: (value: Plain) => V | null,
  ) => {
    const found = find(names);
    if (!found) return absent;
    const value = accept(found.value);
    if (value === null) refuse(found.name, 'wrong', 'value', quoted(found.value), `must be ${wanted}`);
    return value ?? absent;
  };
  return {
    problems,
    assumptions,
    refuse,
    count: (...names) => readCount(find(names), names, refuse),
    countOr: (absent, ...names) =>
      typed(names, absent, `a whole number up to ${MOST_OF_A_SIZE}`, wholeNumber),
    sizeOr: (absent, ...names) =>
      typed(names, absent, `a whole number from 1 to ${MOST_OF_A_SIZE}`, (v) => wholeNumber(v) || null),
    numberOr: (absent, ...names) =>
      typed(names, absent, 'a number', (v) => (typeof v === 'number' ? v : null)),
    flagOr: (absent, ...names) =>
      typed(names, absent, 'true or false', (v) => (typeof v === 'boolean' ? v : null)),
    textOr: (absent, ...names) => typed(names, absent, 'text', (v) => (typeof v === 'string' ? v : null)),
    raw: (...names) => find(names)?.value,
    nested(name) {
      const value = find([name])?.value;
      if (value === undefined) return undefined;
      if (isObject(value)) return configKeys(value, [...at, name], problems, assumptions);
      refuse(name, 'wrong', 'value', value, 'must have fields');
      return undefined;
    },
    ignore(...names) {
      for (const name of names) asked.add(name);
    },
    unread: () =>
      Object.keys(config).filter((name) => !asked.has(name) && config[name] !== null && !isSilent(name)),
  };
}

/** A count, or 1 after its refusal. */
function readCount(
  found: { readonly name: string; readonly value: Plain } | undefined,
  names: readonly string[],
  refuse: ConfigKeys['refuse'],
): number {
  if (!found) {
    refuse('', 'missing', 'field', names.join(' or '), 'this architecture needs it');
    return 1;
  }
  const value = found.value;
  const most = found.name.includes('layers') ? MOST_LAYERS : MOST_OF_A_SIZE;
  const isCount = typeof value === 'number' && Number.isSafeInteger(value) && value >= 1;
  if (isCount && value <= most) return value;
  if (isCount) refuse(found.name, 'out of range', '', value, `must be at most ${most}`);
  else refuse(found.name, 'wrong', 'value', quoted(value), 'must be a whole number of at least 1');
  return 1;
}

/** Looks a field up under its spellings; the first that is present counts, and others that are present must agree. */
function finder(config: PlainObject, asked: Set<string>, refuse: ConfigKeys['refuse']) {
  return (names: readonly string[]): { readonly name: string; readonly value: Plain } | undefined => {
    for (const name of names) asked.add(name);
    const present = names.filter((name) => Object.hasOwn(config, name) && config[name] !== null);
    const [name] = present;
    if (name === undefined) return undefined;
    for (const other of present.slice(1)) {
      if (JSON.stringify(config[other]) !== JSON.stringify(config[name])) {
        refuse(other, 'contradicting', 'field', config[other], `${name} says ${shownValue(config[name])}`);
      }
    }
    return { name, value: config[name] };
  };
}

function wholeNumber(value: Plain): number | null {
  const isWhole = typeof value === 'number' && Number.isSafeInteger(value);
  return isWhole && value >= 0 && value <= MOST_OF_A_SIZE ? value : null;
}

/** A number written as text keeps its quotes in a message, or nobody would see what is wrong with it. */
function quoted(value: Plain): Plain {
  const looksRight = typeof value === 'string' && value !== '' && Number.isFinite(Number(value));
  return looksRight ? `"${value}", a text` : value;
}

/** Fields of any configuration that concern text generation, training or libraries, and no size. */
function isSilent(name: string): boolean {
  return SILENT.has(name) || SILENT_ENDINGS.test(name);
}

const SILENT_ENDINGS =
  /(_token_id|_token_ids|_token_index|_placeholder|_dropout|_loss_coef|_eps|_epsilon|_penalty|_words_ids|label)$|^(_|rope|output_|return_|is_|tie_encoder|tokenizer)/;

const SILENT = new Set(
  `architectures auto_map transformers_version initializer_range use_cache problem_type prefix pruned_heads
  add_cross_attention chunk_size_feed_forward cross_attention_hidden_size do_sample early_stopping finetuning_task
  max_length min_length no_repeat_ngram_size encoder_no_repeat_ngram_size num_beam_groups num_beams
  num_return_sequences remove_invalid_values suppress_tokens begin_suppress_tokens task_specific_params temperature
  tf_legacy_loss top_k top_p typical_p torchscript use_bfloat16 id2label label2id ignore_index ep_size pretraining_tp
  seq_aux aux_loss_alpha router_jitter_noise max_window_layers use_sliding_window initial_context_length
  partial_rotary_factor rotary_dim num_logits_to_keep chunk_size expand rescale_prenorm_residual residual_in_fp32
  time_step_floor time_step_limit time_step_max time_step_min use_mamba_kernels use_unified_vision_chunk
  attention_dropout indexer_rope_interleave use_grouped_topk mla_use_nope num_key_value_heads qk_head_dim
  moe_shared_expert_overlap mamba_proj_bias mamba_hidden_act mlp_bias use_bias use_conv_bias mtp_transformer_layers
  diversity_penalty length_penalty exponential_decay_length_penalty bad_words_ids qk_norm_type attn_implementation
  for_llm_compressor attn_temperature_tuning attn_scale floor_scale no_rope_layer_interval model_max_length
  mamba_ssm_dtype mamba_ssm_cache_dtype torch_dtype dtype`
    .split(/\s+/)
    .filter((name) => name !== ''),
);
