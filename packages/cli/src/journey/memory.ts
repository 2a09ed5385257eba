/**
 * What the followed token meets along the sequence: a head's state of fixed size, and the latents that are kept.
 * Both are computed again from what a layer read, step by step, and held against what the pass itself left.
 */
import {
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
  const total = inputs.beta.length / headCount;
  const memory = new Float32Array(headCount * dim * dim);
  const tokens: KdaPart['tokens'][number][] = [];
  for (let t = 0; t < total; t++) {
    const wide = headCount * dim;
    const own = {
      headCount,
      headDim: dim,
      query: rowOf(inputs.query, t, wide),
      key: rowOf(inputs.key, t, wide),
      value: rowOf(inputs.value, t, wide),
      logDecay: rowOf(inputs.logDecay, t, wide),
      beta: rowOf(inputs.beta, t, headCount),
    };
    const slice = (from: Float32Array) => from.subarray(head * dim, (head + 1) * dim);
    const alpha = Float64Array.from(slice(own.logDecay), Math.exp);
    const key = slice(own.key);
    const value = slice(own.value);
    const before = memory.slice(head * dim * dim, (head + 1) * dim * dim);
    const predicted = Float64Array.from({ length: dim }, (_, column) =>
      key.reduce((sum, k, row) => sum + alpha[row] * before[row * dim + column] * k, 0),
    );
    const read = slice(deltaRecurrent(own, memory));
    if (t > focus) continue;
    tokens.push({
      alpha: rounded(alpha),
      beta: round(own.beta[head]),
      key: rounded(key),
      value: rounded(value),
      predicted: rounded(predicted),
      missed: rounded(predicted.map((p, i) => value[i] - p)),
      read: rounded(read),
      state: rounded(memory.subarray(head * dim * dim, (head + 1) * dim * dim), 4),
    });
  }
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
    tokens,
    stateBytes: dim * dim * 4,
    cacheBytesPerToken: 2 * dim * 2,
  };
}

/** The global read of one layer for the followed token, from what the layer read. */
export function mlaPart(
  event: MixerEvent,
  shape: MlaShape,
  weights: MlaWeights,
  hidden: number,
  focus: number,
): MlaPart {
  const { headCount, kvLoraRank: rank, nopeHeadDim: nope, ropeHeadDim: rope, valueHeadDim } = shape;
  const width = rank + rope;
  const seen = event.input.subarray(0, (focus + 1) * hidden);
  const kept = mlaLatents(seen, hidden, shape, weights);
  const input = rowOf(event.input, focus, hidden);
  const query = mlaQueries(input, hidden, shape, weights);
  const latents = Float32Array.from(
    { length: (focus + 1) * rank },
    (_, i) => kept[Math.floor(i / rank) * width + (i % rank)],
  );
  const keys = linear(latents, weights.keyUp, rank, headCount * nope);
  const values = linear(latents, weights.valueUp, rank, headCount * valueHeadDim);
  const keyOf = (t: number, head: number) => [
    ...rowOf(keys, t * headCount + head, nope),
    ...kept.subarray(t * width + rank, (t + 1) * width),
  ];
  const read = new Float32Array(headCount * valueHeadDim);
  const softmax = Array.from({ length: headCount }, (_, head) => {
    const q = rowOf(query, head, nope + rope);
    const scores = Float64Array.from(
      { length: focus + 1 },
      (_, t) => keyOf(t, head).reduce((sum, k, d) => sum + k * q[d], 0) / Math.sqrt(nope + rope),
    );
    softmaxInPlace(scores);
    for (let d = 0; d < valueHeadDim; d++) {
      read[head * valueHeadDim + d] = scores.reduce(
        (sum, weight, t) => sum + weight * values[(t * headCount + head) * valueHeadDim + d],
        0,
      );
    }
    return scores;
  });
  const gate =
    weights.gate === null
      ? new Float32Array(headCount * valueHeadDim).fill(1)
      : linear(input, weights.gate, hidden, headCount * valueHeadDim).map((g) => 1 / (1 + Math.exp(-g)));
  const output = rowOf(event.output, focus, hidden);
  const again = mlaOutput(read.slice(), input, hidden, shape, weights);
  const strongest = softmax[0].indexOf(Math.max(...softmax[0]));
  return {
    source: 'miniature',
    layer: event.layer,
    headCount,
    latentRank: rank,
    sharedKeySize: rope,
    input: rounded(input),
    kept: Array.from({ length: focus + 1 }, (_, t) => rounded(rowOf(kept, t, width))),
    weights: softmax.map((row) => rounded(row)),
    strongest: {
      token: strongest,
      key: rounded(keyOf(strongest, 0)),
      value: rounded(rowOf(values, strongest * headCount, valueHeadDim)),
    },
    gate: rounded(gate.subarray(0, valueHeadDim)),
    output: rounded(output),
    recomputedError: round(
      output.reduce((most, x, i) => Math.max(most, Math.abs(x - again[i])), 0),
      2,
    ),
  };
}
