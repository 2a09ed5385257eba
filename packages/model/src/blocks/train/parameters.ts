/**
 * The trainable tensors of a K3-like model, in double precision, by name.
 * They come from the same walk as the weights of a forward pass (k3/k3-weights.ts) and go back through it.
 */
import type { ModelShape } from '@epsim/spec';
import { type Node, nodeOf } from '../autodiff/tape.js';
import { type K3Weights, k3Weights, type TensorKind, type TensorMaker } from '../k3/k3-weights.js';

export interface Parameter extends Node {
  readonly name: string;
  readonly kind: TensorKind;
}

export type Parameters = ReadonlyMap<string, Parameter>;

/** All tensors of `shape` with the values that `make` gives them. */
export function trainableParameters(shape: ModelShape, make: TensorMaker): Parameters {
  const all = new Map<string, Parameter>();
  k3Weights(shape, (name, rows, columns, kind) => {
    const values = make(name, rows, columns, kind);
    all.set(name, { name, kind, ...nodeOf(rows, columns, Float64Array.from(values)) });
    return values;
  });
  return all;
}

/** The parameters as weights of a forward pass, rounded to f32. */
export function weightsOfParameters(shape: ModelShape, parameters: Parameters): K3Weights {
  return k3Weights(shape, (name) => Float32Array.from(parameterOf(parameters, name).values));
}

export function parameterOf(parameters: Parameters, name: string): Parameter {
  const found = parameters.get(name);
  if (found === undefined) throw new RangeError(`no parameter ${name} among ${parameters.size}`);
  return found;
}
