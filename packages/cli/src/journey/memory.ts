/**
 * What the followed token meets along the sequence: a head's state of fixed size, and the latents that are kept.
 * Both are computed again from what a layer read, step by step, and held against what the pass itself left.
 */
import {
  type DeltaInputs,
  deltaRecurrent,
  type K3Event,
  type KdaShape,
  type KdaState,
  type KdaWeights,
  kdaInputs,
  kdaState,
  linear,
  type MlaShape,
  type MlaWeights,
  mlaLatents,
  mlaOutput,
  mlaQueries,
  softmaxInPlace,
} from '@epsim/model';
import type { KdaPart, MlaPart } from '@epsim/report';
import { round, rounded, rowOf } from './numbers.js';

export type MixerEvent = Extract<K3Event, { kind: 'mixer' }>;

/** Inputs of one token out of those of a sequence. */
function inputsOf(inputs: DeltaInputs, token: number): DeltaInputs {
  const { headCount, headDim } = inputs;
  const wide = headCount * headDim;
  return {
    headCount,
    headDim,
    query: rowOf(inputs.query, token, wide),
    key: rowOf(inputs.key, token, wide),
    value: rowOf(inputs.value, token, wide),
    logDecay: rowOf(inputs.logDecay, token, wide),
    beta: rowOf(inputs.beta, token, headCount),
  };
}

/** Moves `memory` on by one token; returns what one head's part of it met. */
function deltaToken(own: DeltaInputs, memory: Float32Array, head: number): KdaPart['tokens'][number] {
  const { headDim: dim } = own;
  const ofHead = (from: Float32Array) => rowOf(from, head, dim);
  const alpha = Float64Array.from(ofHead(own.logDecay), Math.exp);
  const key = ofHead(own.key);
  const value = ofHead(own.value);
  const state = rowOf(memory, head, dim * dim);
  const predicted = Float64Array.from({ length: dim }, (_, column) =>
    key.reduce((sum, k, row) => sum + alpha[row] * state[row * dim + column] * k, 0),
  );
  const read = ofHead(deltaRecurrent(own, memory));
  return {
    alpha: rounded(alpha),
    beta: round(own.beta[head]),
    key: rounded(key),
    value: rounded(value),
    predicted: rounded(predicted),
    missed: rounded(predicted.map((p, i) => value[i] - p)),
    read: rounded(read),
    state: rounded(state, 4),
  };
}

/**
 * One head's state over the tokens 0..focus of a layer, from what the layer read.
 * Throws `invariant:` when the state after the last token is not the one that the pass carries.
 */
export function kdaPart(
  event: MixerEvent,
  shape: KdaShape,
  weights: KdaWeights,
  hidden: number,
  head: number,
  focus: number,
): KdaPart {
  const { headCount, headDim: dim } = shape;
  const inputs = kdaInputs(event.input, hidden, shape, weights, kdaState(shape));
  const memory = new Float32Array(headCount * dim * dim);
  const tokens = Array.from({ length: inputs.beta.length / headCount }, (_, t) =>
    deltaToken(inputsOf(inputs, t), memory, head),
  );
  const carried = (event.state as KdaState).memory;
  if (carried.some((x, i) => x !== memory[i])) {
    throw new Error(`invariant: the state of layer ${event.layer} is not what its inputs make`);
  }
  return {
    source: 'miniature',
    layer: event.layer,
    head,
    headCount,
    headDim: dim,
    tokens: tokens.slice(0, focus + 1),
    stateBytes: dim * dim * 4,
    cacheBytesPerToken: 2 * dim * 2,
  };
}

/** Keys [visible x heads][nope + rope] and values [visible x heads x valueDim] expanded from kept rows. */
function expandKept(kept: Float32Array, shape: MlaShape, weights: MlaWeights) {
  const { headCount, kvLoraRank: rank, nopeHeadDim: nope, ropeHeadDim: rope, valueHeadDim } = shape;
  const width = rank + rope;
  const visible = kept.length / width;
  const latents = Float32Array.from(
    { length: visible * rank },
    (_, i) => kept[Math.floor(i / rank) * width + (i % rank)],
  );
  const keys = linear(latents, weights.keyUp, rank, headCount * nope);
  return {
    keyOf: (token: number, head: number) => [
      ...rowOf(keys, token * headCount + head, nope),
      ...kept.subarray(token * width + rank, (token + 1) * width),
    ],
    values: linear(latents, weights.valueUp, rank, headCount * valueHeadDim),
  };
}

/** Softmax weights of each head over all visible tokens, and what the heads read, [heads x valueDim]. */
function readKept(
  query: Float32Array,
  visible: number,
  shape: MlaShape,
  kept: ReturnType<typeof expandKept>,
) {
  const { headCount, nopeHeadDim, ropeHeadDim, valueHeadDim } = shape;
  const dim = nopeHeadDim + ropeHeadDim;
  const read = new Float32Array(headCount * valueHeadDim);
  const softmax = Array.from({ length: headCount }, (_, head) => {
    const q = rowOf(query, head, dim);
    const scores = Float64Array.from(
      { length: visible },
      (_, t) => kept.keyOf(t, head).reduce((sum, k, d) => sum + k * q[d], 0) / Math.sqrt(dim),
    );
    softmaxInPlace(scores);
    for (let d = 0; d < valueHeadDim; d++) {
      read[head * valueHeadDim + d] = scores.reduce(
        (sum, weight, t) => sum + weight * kept.values[(t * headCount + head) * valueHeadDim + d],
        0,
      );
    }
    return scores;
  });
  return { read, softmax };
}

/** The global read of one layer for the followed token, from what the layer read. */
export function mlaPart(
  event: MixerEvent,
  shape: MlaShape,
  weights: MlaWeights,
  hidden: number,
  focus: number,
): MlaPart {
  const { headCount, kvLoraRank, ropeHeadDim, valueHeadDim } = shape;
  const rows = mlaLatents(event.input.subarray(0, (focus + 1) * hidden), hidden, shape, weights);
  const kept = expandKept(rows, shape, weights);
  const input = rowOf(event.input, focus, hidden);
  const { read, softmax } = readKept(mlaQueries(input, hidden, shape, weights), focus + 1, shape, kept);
  const gate =
    weights.gate === null
      ? new Float32Array(headCount * valueHeadDim).fill(1)
      : linear(input, weights.gate, hidden, headCount * valueHeadDim).map((g) => 1 / (1 + Math.exp(-g)));
  const output = rowOf(event.output, focus, hidden);
  const again = mlaOutput(read, input, hidden, shape, weights);
  const strongest = softmax[0].indexOf(Math.max(...softmax[0]));
  return {
    source: 'miniature',
    layer: event.layer,
    headCount,
    latentRank: kvLoraRank,
    sharedKeySize: ropeHeadDim,
    input: rounded(input),
    kept: Array.from({ length: focus + 1 }, (_, t) => rounded(rowOf(rows, t, kvLoraRank + ropeHeadDim))),
    weights: softmax.map((row) => rounded(row)),
    strongest: {
      token: strongest,
      key: rounded(kept.keyOf(strongest, 0)),
      value: rounded(rowOf(kept.values, strongest * headCount, valueHeadDim)),
    },
    gate: rounded(gate.subarray(0, valueHeadDim)),
    output: rounded(output),
    recomputedError: round(
      output.reduce((most, x, i) => Math.max(most, Math.abs(x - again[i])), 0),
      2,
    ),
  };
}
