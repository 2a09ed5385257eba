/**
 * Kimi K3 at full size as tables: its mechanisms, what a context costs it, and Kimi K2 beside it.
 * Its one idea: a context is costed three times with the same functions, for the model and for two that have
 * another mixer in every layer.
 */
import { stateBytes } from '@epsim/model';
import type { ContextRow, Scale } from '@epsim/report';
import { type AttentionShape, type ModelShape, modelPresets } from '@epsim/spec';
import { attentionFlops, LONG_CONTEXT, modelLedger } from '../model-ledger.js';
import { mechanisms } from './mechanisms.js';

/** The model with another mixer in every layer. */
function withMixer(shape: ModelShape, attention: AttentionShape): ModelShape {
  return { ...shape, layers: shape.layers.map((layer) => ({ ...layer, attention })) };
}

function contextRows(shape: ModelShape): ContextRow[] {
  const latent = shape.layers.find((layer) => layer.attention?.kind === 'mla')?.attention;
  const kda = shape.layers.find((layer) => layer.attention?.kind === 'kda')?.attention;
  if (!latent || kda?.kind !== 'kda') throw new RangeError(`${shape.name} does not mix KDA and MLA`);
  const softmax: AttentionShape = {
    kind: 'gqa',
    headCount: kda.headCount,
    kvHeadCount: kda.headCount,
    headDim: kda.headDim,
    windowTokens: null,
    outputGate: true,
    bias: false,
    qkNorm: false,
    sinks: false,
  };
  const kinds = { softmax: withMixer(shape, softmax), latent: withMixer(shape, latent), model: shape };
  const bytes = (kind: keyof typeof kinds, tokens: number) => stateBytes(kinds[kind], tokens, 'bf16').total;
  return Array.from({ length: 11 }, (_, i) => 2 ** (10 + i)).map((tokens) => ({
    tokens,
    softmaxBytes: bytes('softmax', tokens),
    latentBytes: bytes('latent', tokens),
    modelBytes: bytes('model', tokens),
    softmaxPrefill: attentionFlops(kinds.softmax, tokens, tokens),
    latentPrefill: attentionFlops(kinds.latent, tokens, tokens),
    modelPrefill: attentionFlops(kinds.model, tokens, tokens),
    softmaxNext: attentionFlops(kinds.softmax, 1, tokens),
    latentNext: attentionFlops(kinds.latent, 1, tokens),
    modelNext: attentionFlops(kinds.model, 1, tokens),
  }));
}

/** Kimi K3's mechanisms and context at full size, and Kimi K2 beside it. */
export function fullScale(): Scale {
  const k3 = modelPresets['kimi-k3'];
  const k2 = modelPresets['kimi-k2'];
  return {
    model: k3.name,
    contextTokens: LONG_CONTEXT,
    mechanisms: mechanisms(k3),
    context: contextRows(k3),
    ledger: modelLedger([k2.name, k3.name], [k2, k3]),
  };
}
