/**
 * The gated activation of an expert: SiTU-GLU (Kimi K3), with SwiGLU beside it, and their derivatives.
 * Its one idea: both branches pass through b tanh(x / b), which is x near zero and never beyond b, so a
 * product that SwiGLU lets grow without limit stays below gateBound * upBound (K3: 4 * 25 = 100).
 * The values themselves are tensor's `gluAt`.
 */
import type { ModelShape } from '@epsim/spec';
import { type Glu, sigmoid, softBound } from '@epsim/tensor';

/** The activation of a model's experts. Throws RangeError for activations without a gate (gelu, relu2). */
export function gluOf(model: Pick<ModelShape, 'activation' | 'situ'>): Glu {
  if (model.activation === 'swiglu') return { kind: 'swiglu' };
  if (model.activation === 'situ' && model.situ !== null) return { kind: 'situ', ...model.situ };
  throw new RangeError(`no gated activation: ${model.activation}; known: swiglu, situ with its bounds`);
}

/** Size that no output of the activation reaches: gateBound * upBound, or Infinity where a branch is unbounded. */
export function gluCeiling(glu: Glu): number {
  return glu.kind === 'situ' && glu.upBound !== null ? glu.gateBound * glu.upBound : Number.POSITIVE_INFINITY;
}

/** d gluAt / d gate. */
export function gluGateDerivative(glu: Glu, gate: number, up: number): number {
  const s = sigmoid(gate);
  if (glu.kind === 'swiglu') return up * s * (1 + gate * (1 - s));
  const t = Math.tanh(gate / glu.gateBound);
  const bounded = glu.upBound === null ? up : softBound(up, glu.upBound);
  return ((1 - t * t) * s + glu.gateBound * t * s * (1 - s)) * bounded;
}

/** d gluAt / d up. */
export function gluUpDerivative(glu: Glu, gate: number, up: number): number {
  const s = sigmoid(gate);
  if (glu.kind === 'swiglu') return gate * s;
  const branch = softBound(gate, glu.gateBound) * s;
  if (glu.upBound === null) return branch;
  const t = Math.tanh(up / glu.upBound);
  return branch * (1 - t * t);
}
