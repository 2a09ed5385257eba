/** The distribution over the next token: as the journey's own weights give it, and after a short training run. */
import { decodeText, k3Forward, k3Sequence, sampleToken, tokenProbabilities } from '@epsim/model';
import type { NextTokenPart } from '@epsim/report';
import { type ModelShape, randomSource } from '@epsim/spec';
import { streamOf } from './miniature.js';
import { round, rowOf } from './numbers.js';
import type { Travelled } from './trace.js';

const TEMPERATURE = 0.8;
const SHOWN = 12;

/** What `logits` [vocabulary] say of the next token, and one seeded draw. */
export function nextToken(shape: ModelShape, logits: Float32Array, seed: number): NextTokenPart {
  const p = tokenProbabilities(logits);
  const order = Array.from(p.keys()).sort((a, b) => p[b] - p[a] || a - b);
  const label = (id: number) => decodeText([id]);
  return {
    source: 'miniature',
    vocabulary: shape.vocabSize,
    top: order.slice(0, SHOWN).map((id) => ({ label: label(id), probability: round(p[id]), before: null })),
    restProbability: round(order.slice(SHOWN).reduce((sum, id) => sum + p[id], 0)),
    entropyBits: round(-p.reduce((sum, x) => sum + (x > 0 ? x * Math.log2(x) : 0), 0)),
    temperature: TEMPERATURE,
    sampled: label(sampleToken(logits, TEMPERATURE, randomSource(seed, 'journey'))),
  };
}

/** The same stream and position over trained weights, beside what the same tokens had before; null without training. */
export async function trainedNextToken(travelled: Travelled): Promise<NextTokenPart | null> {
  const { request, focus, seen } = travelled;
  const { shape, seed, trained } = request;
  if (trained === null) return null;
  const model = { shape, weights: trained.weights };
  const { rows } = streamOf(model, request.text, seed);
  const logits = await k3Forward(model, k3Sequence(shape), rows, {});
  const before = tokenProbabilities(rowOf(seen.logits, focus, shape.vocabSize));
  const part = nextToken(shape, rowOf(logits, focus, shape.vocabSize), seed);
  const idOf = new Map(Array.from(before.keys(), (id) => [decodeText([id]), id]));
  return {
    ...part,
    source: 'training',
    top: part.top.map((one) => ({ ...one, before: round(before[idOf.get(one.label)!]) })),
  };
}
