/**
 * What to say of a configuration whose architecture nobody knows: which of the fields that every mixture of experts
 * needs are missing, and which fields no reader asks for. Each is a line of its own, with its place.
 * Reads nothing into a model: sizes of an unknown architecture are never guessed.
 */
import { knownNames, shownValue } from '../errors.js';
import type { Finding } from '../findings.js';
import type { ConfigKeys } from './config-keys.js';
import { families } from './families/registry.js';
import { EXPERT_COUNT, type Family, TOP_K } from './parts.js';

/** Fields that any architecture may have beside its sizes, or in a shape of its own. */
export const COMMON = [
  'quantization_config',
  'vision_config',
  'text_config',
  'attention_bias',
  'intermediate_size',
] as const;

const MOST_NAMED = 60;
const REPAIR = 'or write its sizes in the scenario: model: { shape: ... }, see docs/models.md';

/** Problems of `keys`, the language model, and of `root` where that is nested. */
export function unknownArchitecture(keys: ConfigKeys, root: ConfigKeys | null): readonly Finding[] {
  const known = Object.values<Family>(families).flatMap((family) => family.modelTypes);
  const named = keys.textOr(null, 'model_type') === null && root !== null ? root : keys;
  const type = named.textOr(null, 'model_type');
  if (type === null)
    keys.refuse('', 'missing', 'field', 'model_type', `known: ${known.join(', ')}; ${REPAIR}`);
  else named.refuse('model_type', 'unknown', 'architecture', type, `${knownNames(type, known)}; ${REPAIR}`);
  for (const name of ['hidden_size', 'vocab_size', 'num_hidden_layers', 'num_attention_heads'])
    keys.count(name);
  keys.count(...EXPERT_COUNT);
  keys.count(...TOP_K);
  const inner =
    keys.raw('moe_intermediate_size') === undefined ? 'intermediate_size' : 'moe_intermediate_size';
  if (keys.raw(inner) === undefined) keys.count('moe_intermediate_size', 'intermediate_size');
  else keys.count(inner);
  keys.ignore(...COMMON, 'max_position_embeddings', 'tie_word_embeddings', 'hidden_act', 'head_dim');
  root?.ignore(...COMMON, 'model_type', 'tie_word_embeddings');
  nameUnread(keys);
  if (root !== null) nameUnread(root);
  return keys.problems;
}

/** One line for each field that no reader asks for, with its value; beyond a screenful the rest is counted. */
function nameUnread(keys: ConfigKeys): void {
  const unread = keys.unread();
  for (const name of unread.slice(0, MOST_NAMED)) {
    keys.refuse(name, 'unknown', 'field', keys.raw(name), 'no architecture that is known here has it');
  }
  const more = unread.length - MOST_NAMED;
  if (more > 0)
    keys.refuse('', 'unknown', 'fields', `${more} more`, shownValue(unread.slice(MOST_NAMED).join(', ')));
}
