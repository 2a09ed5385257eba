/**
 * A short training run: gradients of a batch of sequences, a step of the optimizer that each tensor asks for,
 * and the selection bias balanced for the next step.
 * Its one idea (Kimi K3): projections that belong to heads are orthogonalised head by head, other matrices whole,
 * and everything that is not a product's matrix goes through AdamW.
 */
import type { ModelShape } from '@epsim/spec';
import { topKNaive } from '@epsim/tensor';
import { Tape } from '../autodiff/tape.js';
import { type AdamState, adamState, adamStep, muonStep } from '../optimizers.js';
import { quantileBias } from '../quantile-bias.js';
import { transposed } from '../transposed.js';
import { k3Loss } from './k3-loss.js';
import { type Parameter, type Parameters, parameterOf } from './parameters.js';

/** How a tensor is stepped. `blockColumns` is what is orthogonalised at a time: a head's columns, or all. */
export type StepRule = { readonly kind: 'adamw' } | { readonly kind: 'muon'; readonly blockColumns: number };

/** Tensors whose columns belong to heads: KDA's query, key, value, decay and gate, and MLA's queries, keys, values, gate. */
const HEAD_TENSORS = /\.(kda\.(query|key|value|decayUp|gate)|mla\.(queryUp|keyUp|valueUp|gate))$/;

/** The rule for one tensor; `perHead` false orthogonalises every matrix whole. */
export function stepRule(
  shape: ModelShape,
  parameter: Pick<Parameter, 'name' | 'kind' | 'columns'>,
  perHead: boolean,
): StepRule {
  const { name, kind, columns } = parameter;
  if (kind !== 'matrix' || name.endsWith('.beta') || name === 'head.words') return { kind: 'adamw' };
  const layer = /^layers\.(\d+)\./.exec(name);
  const attention = layer === null ? null : shape.layers[Number(layer[1])].attention;
  if (!perHead || !HEAD_TENSORS.test(name) || attention === null || !('headCount' in attention)) {
    return { kind: 'muon', blockColumns: columns };
  }
  return { kind: 'muon', blockColumns: columns / attention.headCount };
}

export interface TrainingOptions {
  /** Step sizes of Muon and of AdamW. */
  readonly muonRate: number;
  readonly adamRate: number;
  readonly weightDecay: number;
  readonly perHead: boolean;
  /** The bias of the next step from a layer's scores of the whole batch; default `quantileBias`. */
  readonly balance?: (layer: number, scores: Float32Array, bias: Float32Array) => Float32Array;
}

export interface StepReport {
  /** Mean loss over the batch before the step, in nats per token. */
  readonly loss: number;
  /** Largest load over the mean load, less one, averaged over expert layers. */
  readonly maxVio: number;
}

/** Loads [experts] of the top k of scores + bias. */
function expertLoads(scores: Float32Array, bias: Float32Array, topK: number): Int32Array {
  const loads = new Int32Array(bias.length);
  for (let from = 0; from < scores.length; from += bias.length) {
    const biased = bias.map((b, expert) => scores[from + expert] + b);
    for (const expert of topKNaive(biased, topK)) loads[expert]++;
  }
  return loads;
}

/** Optimizer state per tensor, and the steps. */
export class Trainer {
  readonly parameters: Parameters;
  readonly #shape: ModelShape;
  readonly #options: TrainingOptions;
  readonly #velocities = new Map<string, Float64Array>();
  readonly #means = new Map<string, AdamState>();

  constructor(shape: ModelShape, parameters: Parameters, options: TrainingOptions) {
    this.#shape = shape;
    this.parameters = parameters;
    this.#options = options;
  }

  /** One step on a batch of sequences of token ids; returns what the batch showed before it. */
  step(batch: readonly Int32Array[]): StepReport {
    const seen = new Map<number, number[]>();
    let loss = 0;
    for (const parameter of this.parameters.values()) parameter.grads.fill(0);
    for (const ids of batch) {
      const tape = new Tape();
      const node = k3Loss(tape, this.#shape, this.parameters, ids, (layer, scores) => {
        const own = seen.get(layer) ?? [];
        for (const score of scores) own.push(score);
        seen.set(layer, own);
      });
      loss += node.values[0] / batch.length;
      tape.backward(node, 1 / batch.length);
    }
    for (const parameter of this.parameters.values()) this.#move(parameter);
    return { loss, maxVio: this.#balance(seen) };
  }

  #move(parameter: Parameter): void {
    const { name, rows, columns, values, grads } = parameter;
    if (name.endsWith('.selectionBias') || grads.every((g) => g === 0)) return;
    const { weightDecay, perHead, muonRate, adamRate } = this.#options;
    const rule = stepRule(this.#shape, parameter, perHead);
    if (rule.kind === 'adamw') {
      const state = this.#means.get(name) ?? adamState(values.length);
      this.#means.set(name, state);
      adamStep(values, grads, state, {
        learningRate: adamRate,
        weightDecay: parameter.kind === 'matrix' ? weightDecay : 0,
      });
      return;
    }
    // Muon's rows are outputs; here they are columns.
    const velocity = this.#velocities.get(name) ?? new Float64Array(values.length);
    this.#velocities.set(name, velocity);
    const turned = transposed(values, rows, columns);
    const sizes = { rows: columns, columns: rows, blockRows: rule.blockColumns };
    const options = { learningRate: muonRate, momentum: 0.95, weightDecay };
    muonStep(turned, transposed(grads, rows, columns), velocity, sizes, options);
    values.set(transposed(turned, columns, rows));
  }

  /** Sets every layer's next bias from the batch's scores; returns the mean MaxVio of the batch as it was routed. */
  #balance(seen: ReadonlyMap<number, number[]>): number {
    const { topK } = this.#shape.moe;
    const balance = this.#options.balance ?? ((_layer, scores, bias) => quantileBias(scores, bias, topK));
    let total = 0;
    for (const [layer, list] of seen) {
      const scores = Float32Array.from(list);
      const { values } = parameterOf(this.parameters, `layers.${layer}.moe.selectionBias`);
      const bias = Float32Array.from(values);
      const loads = expertLoads(scores, bias, topK);
      total += (Math.max(...loads) * bias.length) / loads.reduce((a, b) => a + b, 0) - 1;
      values.set(balance(layer, scores, bias));
    }
    return seen.size === 0 ? 0 : total / seen.size;
  }
}
