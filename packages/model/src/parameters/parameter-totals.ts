/**
 * Sums over the parameter list under the names that people quote.
 * The one idea: no total is computed by a formula of its own.
 */
import type { CountedPart, ModelShape } from '@epsim/spec';
import { parameterList } from './parameter-list.js';
import type { ParameterTensor, TensorClass } from './tensor-entry.js';

/** Sum of one field over the lines that `keep` accepts. */
function sumOf(
  list: readonly ParameterTensor[],
  field: 'elements' | 'activeElements' | 'bytes',
  keep: (tensor: ParameterTensor) => boolean = () => true,
): number {
  let sum = 0;
  for (const tensor of list) if (keep(tensor)) sum += tensor[field];
  return sum;
}

/** Parameters of the language model, as published counts have it: vision and extra prediction layers apart. */
export function paramCount(shape: ModelShape): number {
  return sumOf(parameterList(shape), 'elements', (t) => t.part === 'language');
}

/** Parameters that one text token multiplies with; the input embedding is a lookup and not counted. */
export function activeParamCount(shape: ModelShape): number {
  return sumOf(parameterList(shape), 'activeElements');
}

/** The part of a published count that holds a tensor. */
function partOf({ part, tensorClass }: ParameterTensor): CountedPart {
  if (part !== 'language') return part === 'mtp' ? 'prediction' : 'vision';
  return tensorClass === 'embedding' || tensorClass === 'head' ? tensorClass : 'layers';
}

/**
 * Parameters in the parts that a published count holds: all of them, or those that one text token uses, the row of the
 * input embedding standing for its whole table as makers have it. Tied tables are one, the head.
 */
export function countedParameters(
  shape: ModelShape,
  holds: readonly CountedPart[],
  what: 'total' | 'active',
): number {
  let sum = 0;
  for (const tensor of parameterList(shape)) {
    const part = partOf(tensor);
    if (!holds.includes(part)) continue;
    sum += what === 'active' && part === 'layers' ? tensor.activeElements : tensor.elements;
  }
  return sum;
}

/** Bytes of the whole checkpoint: language, extra prediction layers and vision. */
export function checkpointBytes(shape: ModelShape): number {
  return sumOf(parameterList(shape), 'bytes');
}

export interface ParameterTotals {
  readonly tensorClass: TensorClass;
  readonly elements: number;
  readonly activeElements: number;
  readonly bytes: number;
}

/** Totals per tensor class over all parts, in order of first appearance. */
export function parameterTotals(shape: ModelShape): readonly ParameterTotals[] {
  const list = parameterList(shape);
  const classes = [...new Set(list.map((tensor) => tensor.tensorClass))];
  return classes.map((tensorClass) => {
    const same = (tensor: ParameterTensor): boolean => tensor.tensorClass === tensorClass;
    return {
      tensorClass,
      elements: sumOf(list, 'elements', same),
      activeElements: sumOf(list, 'activeElements', same),
      bytes: sumOf(list, 'bytes', same),
    };
  });
}
