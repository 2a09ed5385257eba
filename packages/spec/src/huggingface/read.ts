/**
 * A published config.json to a ModelShape, or every reason why not.
 * The one idea: an architecture's own reader takes the fields it knows; a field that is missing is a problem, a field
 * that nobody read is named, and what had to be assumed is a sentence in the result.
 * Touches no file and knows no preset.
 */
import type { PlainObject } from '../document.js';
import { type Finding, findingsOf } from '../findings.js';
import { MOST_LAYERS } from '../limits.js';
import { documentOf, modelDocument } from '../model-document.js';
import type { Activation, ModelShape, VisionShape } from '../model-shape.js';
import { isObject } from '../reader.js';
import { type ConfigKeys, configKeys } from './config-keys.js';
import { familyOf } from './families/registry.js';
import { readStorage } from './quantization.js';
import { COMMON, unknownArchitecture } from './unknown.js';

export interface ConfigSource {
  /** Name of the model in results, and where hints are looked for. */
  readonly name: string;
  /** Address or path of the configuration. */
  readonly source: string;
  /** Content of the hf_quant_config.json that some publishers put beside it. */
  readonly quantConfig?: PlainObject | null | undefined;
}

export type ConfigResult =
  | { readonly ok: true; readonly model: ModelShape }
  | { readonly ok: false; readonly problems: readonly Finding[] };

/** Reads the language model, under `text_config` where there is one; a vision part is never mixed into it. */
export function modelFromHuggingFace(config: PlainObject, source: ConfigSource): ConfigResult {
  const root = configKeys(config);
  const keys = root.nested('text_config') ?? root;
  const isNested = keys !== root;
  const [inner, outer] = [keys.textOr(null, 'model_type'), root.textOr(null, 'model_type')];
  const family = familyOf(inner ?? outer);
  if (!family) return { ok: false, problems: unknownArchitecture(keys, isNested ? root : null) };
  const around = familyOf(outer);
  if (around && around !== family) {
    keys.refuse('model_type', 'contradicting', 'architecture', inner, `the model around it is ${outer}`);
  }
  const sizes = {
    hiddenSize: keys.count('hidden_size'),
    vocabSize: keys.count('vocab_size'),
    contextTokens: keys.count('max_position_embeddings'),
    tiedEmbeddings: keys.flagOr(null, 'tie_word_embeddings') ?? root.flagOr(false, 'tie_word_embeddings'),
  };
  const parts = family.read(keys);
  if (!parts.layers.some((layer) => layer.ffn?.kind === 'moe') && keys.problems.length === 0) {
    keys.refuse('', 'missing', 'layers of experts', '', 'the configuration describes a dense model');
  }
  const activation = readActivation(keys);
  const quantization = keys.raw('quantization_config') ?? root.raw('quantization_config') ?? null;
  const precision = readStorage(keys, {
    config: isObject(quantization) ? quantization : null,
    sidecar: source.quantConfig ?? null,
    name: `${source.name} ${source.source} ${keys.textOr('', '_name_or_path')}`,
    hasSharedExperts: parts.moe.sharedExpertCount > 0,
    hasDenseLayers: parts.layers.some((layer) => layer.ffn?.kind === 'dense'),
  });
  const vision = readVision(root);
  sayUnread(keys, isNested ? root : null);
  if (keys.problems.length > 0) return { ok: false, problems: keys.problems };
  const { layers, moe, attnResBlockLayers = null, residualStreams = 1, mtpLayerCount = 0 } = parts;
  const model: ModelShape = {
    ...{ name: source.name, source: source.source, ...sizes, ...activation },
    ...{ layers, moe, attnResBlockLayers, residualStreams, mtpLayerCount, vision, precision },
    assumptions: keys.assumptions,
  };
  const limits = beyondLimits(model);
  return limits.length > 0 ? { ok: false, problems: limits } : { ok: true, model };
}

/** Sizes that no document of a model may have, under the names they have there: what is read can be written. */
function beyondLimits(model: ModelShape): readonly Finding[] {
  if (model.mtpLayerCount > MOST_LAYERS) {
    const help = `must be at most ${MOST_LAYERS}`;
    const value = String(model.mtpLayerCount);
    return [{ path: [], kind: 'too many', subject: 'prediction layers', value, help }];
  }
  const written = documentOf(model);
  const { error } = modelDocument.safeParse(written);
  if (!error) return [];
  return findingsOf(error.issues, written, () => ({})).map(({ path, ...finding }) => ({
    ...finding,
    path: [],
    subject: path.join('.'),
  }));
}

const activations: Readonly<Record<string, Activation>> = {
  silu: 'swiglu',
  swigluoai: 'swiglu',
  situ: 'situ',
  gelu: 'gelu',
  gelu_pytorch_tanh: 'gelu',
  relu2: 'relu2',
};

function readActivation(keys: ConfigKeys): Pick<ModelShape, 'activation' | 'situ'> {
  const stated = keys.textOr(null, 'mlp_hidden_act') ?? keys.textOr('silu', 'hidden_act');
  const activation = Object.hasOwn(activations, stated) ? activations[stated] : undefined;
  if (activation === undefined) {
    keys.refuse(
      'hidden_act',
      'unknown',
      'activation',
      stated,
      `known: ${Object.keys(activations).join(', ')}`,
    );
  }
  if (activation !== 'situ') return { activation: activation ?? 'swiglu', situ: null };
  const gateBound = keys.numberOr(null, 'activation_situ_beta');
  if (gateBound === null) keys.refuse('', 'missing', 'field', 'activation_situ_beta', 'situ needs it');
  return {
    activation,
    situ: { gateBound: gateBound ?? 1, upBound: keys.numberOr(null, 'activation_situ_linear_beta') },
  };
}

/** The vision tower in the layout of Kimi's models; any other is left out, and that is said. */
function readVision(root: ConfigKeys): VisionShape | null {
  const keys = root.nested('vision_config');
  if (!keys) return null;
  if (keys.raw('vt_num_hidden_layers') === undefined) {
    root.assumptions.push('the vision part is of a layout that is not known and left out');
    return null;
  }
  const hiddenSize = keys.count('vt_hidden_size');
  const headCount = keys.count('vt_num_attention_heads');
  const merge = keys.raw('merge_kernel_size');
  const mergeSize = Array.isArray(merge) ? Number(merge[0]) : 1;
  return {
    layerCount: keys.count('vt_num_hidden_layers'),
    hiddenSize,
    innerSize: keys.count('vt_intermediate_size'),
    headCount,
    headDim: keys.countOr(hiddenSize, 'qkv_hidden_size') / headCount,
    patchSize: keys.count('patch_size'),
    mergeSize,
    positionGrid: keys.count('init_pos_emb_height'),
    projectorInnerSize: hiddenSize * mergeSize ** 2,
  };
}

/** Names fields that nobody read, so that a size is never lost silently. */
function sayUnread(keys: ConfigKeys, root: ConfigKeys | null): void {
  keys.ignore(...COMMON);
  root?.ignore(...COMMON, 'model_type', 'tie_word_embeddings');
  const unread = [...keys.unread(), ...(root?.unread() ?? [])];
  if (unread.length > 0) keys.assumptions.push(`fields not known here and left out: ${unread.join(', ')}`);
}
