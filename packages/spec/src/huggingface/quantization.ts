/**
 * How a checkpoint stores its weights, by the quantisation schemes that publishers use.
 * The one idea: ask the scheme about one module of each kind, by its name; the routed experts are one class, what
 * most other modules have is the other. Nothing stated is BF16, and that is said.
 */
import type { Plain, PlainObject } from '../document.js';
import { shownValue } from '../errors.js';
import type { ModelShape, Precision } from '../model-shape.js';
import { precisions } from '../precision.js';
import { isObject } from '../reader.js';
import type { ConfigKeys } from './config-keys.js';

type Storage = ModelShape['precision'];
/** Precision of a module by its name, null where the scheme leaves it alone. */
type Scheme = (module: string) => Precision | null;

/** Names that checkpoints give to a routed expert, and one module of each other kind that a model may have. */
const EXPERT_MODULES = [
  'model.layers.7.mlp.experts.7.gate_proj',
  'model.layers.7.block_sparse_moe.experts.7.w1',
  'model.layers.7.mixer.experts.7.up_proj',
  'layers.7.ffn.experts.7.w1',
] as const;
const OTHER_MODULES = {
  attention: 'model.layers.7.self_attn.o_proj',
  'shared experts': 'model.layers.7.mlp.shared_experts.gate_proj',
  'dense layers': 'model.layers.0.mlp.gate_proj',
} as const;

export interface StorageQuestion {
  /** `quantization_config`, or null. */
  readonly config: PlainObject | null;
  /** hf_quant_config.json, or null. */
  readonly sidecar: PlainObject | null;
  /** Looked through for hints when neither says anything. */
  readonly name: string;
  readonly hasSharedExperts: boolean;
  readonly hasDenseLayers: boolean;
}

/** Storage of the routed experts and of the rest. Where the rest is mixed, BF16 is counted and that is said. */
export function readStorage(keys: ConfigKeys, asked: StorageQuestion): Storage {
  const { config, sidecar } = asked;
  const experts = expertType(keys);
  if (!config && !sidecar) {
    const storage = unstated(keys, asked.name);
    return { ...storage, routedExperts: experts ?? storage.routedExperts };
  }
  const scheme = config ? schemeOf(keys, config) : modelOpt(keys, sidecar ?? {});
  if (!scheme) return { routedExperts: precisions.bf16, rest: precisions.bf16 };
  const kinds = Object.entries(OTHER_MODULES).filter(
    ([kind]) =>
      kind === 'attention' || (kind === 'shared experts' ? asked.hasSharedExperts : asked.hasDenseLayers),
  );
  const named = (quantised: boolean) =>
    kinds.filter(([, module]) => (scheme(module) !== null) === quantised).map(([kind]) => kind);
  const [stored, plain] = [named(true), named(false)];
  const rest = scheme(OTHER_MODULES.attention);
  if (stored.length > 0 && plain.length > 0) {
    keys.assumptions.push(
      `${stored.join(' and ')} are quantised and ${plain.join(' and ')} are not: all counted as BF16`,
    );
  }
  const routed = firstOf(scheme, EXPERT_MODULES);
  if (routed === null && experts === null && stored.length === 0) {
    keys.assumptions.push(
      'the quantisation covers no module whose name is known here: BF16 assumed; set model.precision to say otherwise',
    );
  }
  return {
    routedExperts: (config ? experts : null) ?? routed ?? precisions.bf16,
    rest: plain.length > 0 || rest === null ? precisions.bf16 : rest,
  };
}

/** The format of routed experts where it is stated apart from the scheme (DeepSeek-V4: FP4 beside FP8). */
function expertType(keys: ConfigKeys): Precision | null {
  const known: Readonly<Record<string, Precision>> = { fp4: precisions.mxfp4, fp8: precisions.fp8 };
  const stated = keys.textOr(null, 'expert_dtype');
  if (stated === null || Object.hasOwn(known, stated)) return stated === null ? null : known[stated];
  keys.refuse('expert_dtype', 'unknown', 'format', stated, `known: ${Object.keys(known).join(', ')}`);
  return null;
}

function firstOf(scheme: Scheme, names: readonly string[]): Precision | null {
  for (const name of names) {
    const precision = scheme(name);
    if (precision !== null) return precision;
  }
  return null;
}

const HINT = /nvfp4|mxfp4|mxfp8|fp4|fp8|int4|int8|w4a16|w4a8|w8a8|awq|gptq/i;

function unstated(keys: ConfigKeys, name: string): Storage {
  const hint = HINT.exec(name)?.[0].toUpperCase();
  const stated = keys.textOr(null, 'torch_dtype', 'dtype');
  if (hint) {
    keys.assumptions.push(
      `precision not stated: BF16 assumed, but the name says ${hint}; put its hf_quant_config.json beside it or set model.precision`,
    );
  } else if (stated === null) {
    keys.assumptions.push('precision not stated: BF16 assumed; set model.precision to say otherwise');
  }
  const precision = stated === 'float32' ? precisions.fp32 : precisions.bf16;
  return { routedExperts: precision, rest: precision };
}

function schemeOf(keys: ConfigKeys, config: PlainObject): Scheme | null {
  const method = config.quant_method;
  if (method === 'fp8') return blockFp8(keys, config);
  if (method === 'mxfp4') return sparing(precisions.mxfp4, globs(config.modules_to_not_convert));
  if (method === 'mxfp8')
    return sparing(precisions.mxfp8, globs(config.ignored_layers ?? config.modules_to_not_convert));
  if (method === 'compressed-tensors') return compressedTensors(keys, config);
  if (method === 'modelopt' || config.quant_algo !== undefined) return modelOpt(keys, config);
  if (method === 'gptq' || method === 'awq') return packedGroups(keys, config);
  const known = 'fp8, mxfp4, mxfp8, compressed-tensors, modelopt, gptq, awq';
  keys.refuse('quantization_config', 'unknown', 'quantisation', method, `known: ${known}`);
  return null;
}

/** DeepSeek's FP8: one FP32 scale per block, or one per tensor where no block is stated. */
function blockFp8(keys: ConfigKeys, config: PlainObject): Scheme {
  const block = config.weight_block_size;
  const sides = Array.isArray(block) ? block.map(Number) : [0, 0];
  if (sides.some((side) => !Number.isInteger(side) || side < 0)) {
    keys.refuse('quantization_config', 'wrong', 'weight_block_size', block, 'write two whole numbers');
  }
  const groupSize = sides.reduce((a, b) => a * b, 1);
  const precision = { ...precisions.fp8, groupSize, scaleBits: groupSize === 0 ? 0 : 32 };
  return sparing(precision, globs(config.modules_to_not_convert));
}

/** GPTQ and AWQ: packed integers with a 16-bit scale per group. */
function packedGroups(keys: ConfigKeys, config: PlainObject): Scheme | null {
  const bits = Number(config.bits ?? config.w_bit);
  const groupSize = Math.max(0, Number(config.group_size ?? config.q_group_size) || 0);
  if (bits !== 4 && bits !== 8) {
    keys.refuse('quantization_config', 'unknown', 'bits', config.bits, '4 and 8 are known');
    return null;
  }
  const base = bits === 4 ? precisions.int4 : precisions.int8;
  return sparing({ ...base, groupSize, scaleBits: 16 }, globs(config.modules_to_not_convert));
}

/** compressed-tensors: groups of targets with a weight format each, and modules to ignore by name or regex. */
function compressedTensors(keys: ConfigKeys, config: PlainObject): Scheme | null {
  const ignored = matcher(keys, config.ignore);
  const groups = isObject(config.config_groups) ? Object.values(config.config_groups) : [];
  const schemes = groups.filter(isObject).map((group) => ({
    targets: matcher(keys, group.targets, ['Linear']),
    precision: isObject(group.weights)
      ? weightPrecision(keys, group.weights, group.format ?? config.format)
      : null,
  }));
  if (schemes.length === 0) {
    keys.refuse('quantization_config', 'missing', 'config_groups', '', 'compressed-tensors needs them');
    return null;
  }
  return (module) => {
    if (ignored(module)) return null;
    return schemes.find((scheme) => scheme.targets(module))?.precision ?? null;
  };
}

function weightPrecision(
  keys: ConfigKeys,
  weights: PlainObject,
  format: Plain | undefined,
): Precision | null {
  const { num_bits: bits, type, strategy } = weights;
  const groupSize = typeof weights.group_size === 'number' && weights.group_size > 0 ? weights.group_size : 0;
  const block = Array.isArray(weights.block_structure) ? weights.block_structure.map(Number) : [];
  if (type === 'float' && bits === 4) {
    const base = /nvfp4/.test(String(format)) || groupSize === 16 ? precisions.nvfp4 : precisions.mxfp4;
    return { ...base, groupSize: groupSize || base.groupSize };
  }
  if (type === 'float' && bits === 8) {
    if (strategy === 'group' && groupSize === 32) return precisions.mxfp8;
    const size = strategy === 'block' && block.length === 2 ? block[0] * block[1] : groupSize;
    return { ...precisions.fp8, groupSize: size, scaleBits: size === 0 ? 0 : 32 };
  }
  if (type === 'int' && (bits === 4 || bits === 8)) {
    const base = bits === 4 ? precisions.int4 : precisions.int8;
    return { ...base, groupSize, scaleBits: groupSize === 0 ? 0 : 16 };
  }
  keys.refuse(
    'quantization_config',
    'unknown',
    'weight format',
    { type, num_bits: bits },
    'float and int of 4 and 8 bits are known',
  );
  return null;
}

/** NVIDIA ModelOpt, in the configuration or in hf_quant_config.json beside it. */
function modelOpt(keys: ConfigKeys, config: PlainObject): Scheme | null {
  const inner = isObject(config.quantization) ? config.quantization : config;
  const algorithm = inner.quant_algo;
  const spared = globs(inner.exclude_modules ?? inner.ignore);
  const layers = isObject(inner.quantized_layers) ? inner.quantized_layers : null;
  if (algorithm === 'MIXED_PRECISION' && layers) {
    const named = Object.entries(layers).map(([module, entry]) => ({
      matches: globs([module.replace(/\.\d+\./g, '.*.')]),
      precision: isObject(entry) ? algorithmPrecision(keys, entry) : null,
    }));
    return (module) =>
      spared(module) ? null : (named.find((entry) => entry.matches(module))?.precision ?? null);
  }
  const precision = algorithmPrecision(keys, inner);
  if (!precision) return null;
  if (inner.exclude_modules !== undefined || inner.ignore !== undefined) return sparing(precision, spared);
  keys.assumptions.push(
    `modules left out of ${precision.name} not stated: only routed experts are counted as ${precision.name}`,
  );
  return (module) => (/\.experts\./.test(module) ? precision : null);
}

function algorithmPrecision(keys: ConfigKeys, entry: PlainObject): Precision | null {
  const groupSize = typeof entry.group_size === 'number' && entry.group_size > 0 ? entry.group_size : null;
  const algorithm = String(entry.quant_algo).toUpperCase();
  if (/NVFP4/.test(algorithm)) return { ...precisions.nvfp4, groupSize: groupSize ?? 16 };
  if (/MXFP4/.test(algorithm)) return precisions.mxfp4;
  if (/MXFP8/.test(algorithm)) return precisions.mxfp8;
  if (/^FP8/.test(algorithm)) return { ...precisions.fp8, groupSize: 0, scaleBits: 0 };
  if (/W4A16|INT4/.test(algorithm)) return { ...precisions.int4, groupSize: groupSize ?? 128 };
  const known = 'NVFP4, MXFP4, MXFP8, FP8, W4A16';
  keys.refuse(
    'quantization_config',
    'unknown',
    'quantisation',
    shownValue(entry.quant_algo),
    `known: ${known}`,
  );
  return null;
}

function sparing(precision: Precision, spared: (module: string) => boolean): Scheme {
  return (module) => (spared(module) ? null : precision);
}

/** Names, `*` standing for anything; a name also covers whatever lies below it. */
function globs(list: Plain | undefined): (module: string) => boolean {
  const names = (Array.isArray(list) ? list : []).filter((entry) => typeof entry === 'string');
  return (module) => names.some((name) => globMatches(name, module));
}

/** Linear in both lengths, so that no name can make it slow. */
function globMatches(name: string, module: string): boolean {
  const parts = name.split('*');
  if (parts.length === 1)
    return module === name || module.startsWith(`${name}.`) || module.includes(`.${name}.`);
  if (!module.startsWith(parts[0])) return false;
  let at = parts[0].length;
  for (const part of parts.slice(1)) {
    const found = module.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return true;
}

/** compressed-tensors' lists: exact names, or `re:` and a regex that must match from the start of the name. */
function matcher(keys: ConfigKeys, list: Plain | undefined, everything: readonly string[] = []) {
  const tests = (Array.isArray(list) ? list : []).map((entry) => {
    const text = String(entry);
    if (everything.includes(text)) return () => true;
    if (!text.startsWith('re:')) return (module: string) => module === text || module.endsWith(`.${text}`);
    try {
      const pattern = new RegExp(`^(?:${text.slice(3)})`);
      return (module: string) => pattern.test(module);
    } catch {
      keys.refuse('quantization_config', 'invalid', 'regex', text, 'write a regular expression after "re:"');
      return () => false;
    }
  });
  return (module: string) => tests.some((test) => test(module));
}
