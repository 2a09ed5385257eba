/**
 * Parts of a model that several architectures read from their configurations in the same way.
 */
import type { AttentionShape, DenseShape, LayerShape, MoeShape } from '../model-shape.js';
import { type Gqa, gqa, type Mla, mla, moe, stack } from '../presets/models/parts.js';
import type { ConfigKeys } from './config-keys.js';

/** What an architecture's own reader contributes; the rest is read the same way for all. */
export interface FamilyParts {
  readonly layers: readonly LayerShape[];
  readonly moe: MoeShape;
  readonly mtpLayerCount?: number;
  readonly attnResBlockLayers?: number | null;
  readonly residualStreams?: number;
}

/** How one architecture says its sizes. What its configuration leaves to its code, the family knows. */
export interface Family {
  /** Values of `model_type` that it reads. */
  readonly modelTypes: readonly string[];
  read(keys: ConfigKeys): FamilyParts;
}

/** Latent attention (DeepSeek-V2 and its descendants), with the sparse indexer where there is one. */
export function readMla(keys: ConfigKeys): Mla {
  const isIndexed = ['index_n_heads', 'index_head_dim', 'index_topk'].some(
    (name) => keys.raw(name) !== undefined,
  );
  keys.ignore('head_dim', 'attention_bias');
  return mla({
    headCount: keys.count('num_attention_heads'),
    qLoraRank: keys.sizeOr(null, 'q_lora_rank'),
    kvLoraRank: keys.count('kv_lora_rank'),
    nopeHeadDim: keys.count('qk_nope_head_dim'),
    ropeHeadDim: keys.count('qk_rope_head_dim'),
    valueHeadDim: keys.count('v_head_dim'),
    outputGate: keys.flagOr(false, 'mla_use_output_gate'),
    indexer: isIndexed
      ? {
          headCount: keys.count('index_n_heads'),
          headDim: keys.count('index_head_dim'),
          topK: keys.count('index_topk'),
        }
      : null,
  });
}

/** Grouped-query attention over the whole prefix; the head size is hidden size / heads where it is not stated. */
export function readGqa(keys: ConfigKeys, known: Partial<Gqa> = {}): Gqa {
  const headCount = keys.count('num_attention_heads');
  const headDim = keys.sizeOr(null, 'head_dim') ?? keys.count('hidden_size') / headCount;
  const kvHeadCount = keys.sizeOr(headCount, 'num_key_value_heads');
  if (headCount % kvHeadCount !== 0) {
    const help = `must divide num_attention_heads, ${headCount}`;
    keys.refuse('num_key_value_heads', 'uneven', 'heads', kvHeadCount, help);
  }
  if (!Number.isInteger(headDim)) {
    keys.refuse(
      'num_attention_heads',
      'uneven',
      'heads',
      headCount,
      'must divide hidden_size, or state head_dim',
    );
  }
  return gqa({
    headCount,
    kvHeadCount,
    headDim,
    bias: keys.flagOr(false, 'attention_bias'),
    ...known,
  });
}

export interface MoeKnowledge {
  /** Fields that hold the inner size of one routed expert. */
  readonly inner: readonly string[];
  /** Score function of the architecture's code, for configurations that do not state it. */
  readonly scoring?: MoeShape['scoring'];
  /** Whether gates are renormalised, for configurations that do not state it. */
  readonly renormalize?: boolean;
  /** Facts of the architecture's code. */
  readonly fixed?: Partial<MoeShape>;
}

const scorings: Readonly<Record<string, MoeShape['scoring']>> = {
  sigmoid: 'sigmoid',
  softmax: 'softmax',
  sqrtsoftplus: 'sqrt-softplus',
};

/** The layer of experts. Shared experts are as wide as routed ones unless `fixed` says otherwise. */
export function readMoe(keys: ConfigKeys, known: MoeKnowledge): MoeShape {
  const hiddenSize = keys.count('hidden_size');
  const expertInnerSize = keys.count(...known.inner);
  const latentNorm = keys.flagOr(false, 'latent_moe_use_norm');
  // A norm of latents says that there are latents: their width is not guessed then.
  const width = latentNorm ? keys.count(...LATENT_WIDTH) : keys.sizeOr(hiddenSize, ...LATENT_WIDTH);
  const sharedExpertCount = keys.countOr(0, 'n_shared_experts', 'num_shared_experts');
  const mistakes = keys.problems.length;
  const expertCount = keys.count(...EXPERT_COUNT);
  const topK = keys.count(...TOP_K);
  const groupCount = keys.countOr(1, 'n_group', 'num_expert_group') || 1;
  const topGroupCount = keys.countOr(1, 'topk_group') || 1;
  if (keys.problems.length === mistakes) checkChoices(keys, { expertCount, topK, groupCount, topGroupCount });
  return moe({
    expertCount,
    topK,
    expertWidth: width,
    expertInnerSize,
    latent: width !== hiddenSize,
    latentNorm,
    sharedExpertCount,
    sharedInnerSize: sharedExpertCount > 0 ? expertInnerSize : 0,
    scoring: readScoring(keys, known.scoring),
    renormalize:
      keys.flagOr(null, 'norm_topk_prob', 'moe_renormalize') ?? readRenormalize(keys, known.renormalize),
    routedScaling: keys.numberOr(1, 'routed_scaling_factor'),
    selectionBias: keys.textOr('', 'topk_method') === 'noaux_tc' || keys.flagOr(false, 'use_routing_bias'),
    groupCount,
    topGroupCount,
    ...known.fixed,
  });
}

const LATENT_WIDTH = ['routed_expert_hidden_size', 'moe_latent_size'] as const;

/** Spellings of two sizes that every mixture of experts has. */
export const EXPERT_COUNT = ['n_routed_experts', 'num_experts', 'num_local_experts'] as const;
export const TOP_K = [
  'num_experts_per_tok',
  'num_experts_per_token',
  'moe_topk',
  'experts_per_token',
] as const;

/** A token must find its experts in the groups that it may use. */
function checkChoices(
  keys: ConfigKeys,
  moe: Pick<MoeShape, 'expertCount' | 'topK' | 'groupCount' | 'topGroupCount'>,
): void {
  const { expertCount, topK, groupCount, topGroupCount } = moe;
  if (expertCount % groupCount !== 0) {
    keys.refuse(
      '',
      'uneven',
      'groups',
      `${expertCount} experts in ${groupCount} groups`,
      'groups must be equal',
    );
  } else if (topGroupCount > groupCount) {
    keys.refuse('topk_group', 'too many', 'groups', topGroupCount, `the model has ${groupCount}`);
  } else if (topK > (expertCount / groupCount) * topGroupCount) {
    const allowed = (expertCount / groupCount) * topGroupCount;
    keys.refuse(
      '',
      'too many',
      'experts of a token',
      topK,
      `a token may use ${allowed} of the ${expertCount}`,
    );
  }
}

function readScoring(keys: ConfigKeys, known: MoeShape['scoring'] | undefined): MoeShape['scoring'] {
  const stated = keys.textOr(null, 'scoring_func', 'moe_router_activation_func');
  if (stated !== null && Object.hasOwn(scorings, stated)) return scorings[stated];
  if (stated !== null) {
    const help = `known: ${Object.keys(scorings).join(', ')}`;
    keys.refuse('scoring_func', 'unknown', 'score function', stated, help);
  } else if (known === undefined) {
    keys.refuse('', 'missing', 'field', 'scoring_func', 'this architecture needs it');
  } else {
    keys.assumptions.push(`router scores not stated: ${known} assumed, as in the architecture's code`);
  }
  return known ?? 'sigmoid';
}

function readRenormalize(keys: ConfigKeys, known: boolean | undefined): boolean {
  if (known === undefined)
    keys.refuse('', 'missing', 'field', 'norm_topk_prob', 'this architecture needs it');
  return known ?? true;
}

/** Which layers hold experts: from `first_k_dense_replace` on, every `moe_layer_freq`-th, or as a list of 0 and 1. */
export function denseFirst(keys: ConfigKeys, layerCount: number): readonly boolean[] {
  const first = keys.countOr(0, 'first_k_dense_replace');
  const every = keys.raw('moe_layer_freq') ?? 1;
  if (Array.isArray(every)) {
    if (every.length !== layerCount) {
      keys.refuse('moe_layer_freq', 'wrong', 'length', every.length, `must be the ${layerCount} layers`);
    }
    return Array.from({ length: layerCount }, (_, index) => every[index] === 1);
  }
  if (typeof every !== 'number' || !Number.isInteger(every) || every < 1) {
    keys.refuse('moe_layer_freq', 'wrong', 'value', every, 'must be a whole number or a list of 0 and 1');
    return Array.from({ length: layerCount }, () => true);
  }
  return Array.from({ length: layerCount }, (_, index) => index >= first && index % every === 0);
}

/** Layers with one attention each, and experts or a dense block by `holdsExperts`. */
export function layersOf(
  holdsExperts: readonly boolean[],
  experts: MoeShape,
  denseInnerSize: () => number,
  attention: (index: number) => AttentionShape,
): readonly LayerShape[] {
  const block: DenseShape | null = holdsExperts.includes(false)
    ? { kind: 'dense', innerSize: denseInnerSize() }
    : null;
  return stack(holdsExperts.length, (index) => ({
    attention: attention(index),
    ffn: holdsExperts[index] ? experts : block,
  }));
}

/** A list with one entry of the known names for each layer, or undefined where the field is absent. */
export function layerTypes<T extends string>(
  keys: ConfigKeys,
  layerCount: number,
  known: readonly T[],
): readonly T[] | undefined {
  const list = keys.raw('layer_types');
  if (list === undefined) return undefined;
  if (!Array.isArray(list) || list.length !== layerCount) {
    const length = Array.isArray(list) ? list.length : list;
    keys.refuse('layer_types', 'wrong', 'length', length, `must be the ${layerCount} layers`);
    return undefined;
  }
  const strange = list.find((entry) => !known.includes(entry as T));
  if (strange !== undefined) {
    keys.refuse('layer_types', 'unknown', 'layer type', strange, `known: ${known.join(', ')}`);
    return undefined;
  }
  return list as T[];
}
