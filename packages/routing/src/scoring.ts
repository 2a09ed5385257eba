/**
 * Router logits to scores: what each expert is worth to a token before any bias.
 * `softmax-over-top-k` scores like softmax, because a softmax over the chosen logits is the full softmax
 * divided by the chosen sum; it differs only in that its gates are always renormalised.
 * Knows nothing about selection.
 */
import type { MoeShape } from '@epsim/spec';
import { applyTable, taylorTable } from './taylor.js';

export type Scoring = MoeShape['scoring'];

const sigmoid = (z: number) => 1 / (1 + Math.exp(-z));
const sqrtSoftplus = (z: number) => Math.sqrt(Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z))));

/**
 * Writes the scores of one row of logits, [expertCount] at `offset` of both arrays. The form to read.
 */
export function scoreRowNaive(
  scoring: Scoring,
  logits: Float32Array,
  offset: number,
  expertCount: number,
  out: Float32Array,
): void {
  const row = logits.subarray(offset, offset + expertCount);
  if (scoring === 'sigmoid') {
    out.set(row.map(sigmoid), offset);
  } else if (scoring === 'sqrt-softplus') {
    out.set(row.map(sqrtSoftplus), offset);
  } else {
    const max = row.reduce((a, b) => Math.max(a, b), -Infinity);
    const sum = row.reduce((total, z) => total + Math.exp(z - max), 0);
    out.set(
      row.map((z) => Math.exp(z - max) / sum),
      offset,
    );
  }
}

const sigmoidTable = taylorTable(-20, 20, (z) => {
  const s = sigmoid(z);
  return [s, s * (1 - s), s * (1 - s) * (1 - 2 * s)];
});
const sqrtSoftplusTable = taylorTable(-20, 20, (z) => {
  const s = sigmoid(z);
  const f = sqrtSoftplus(z);
  const first = s / (2 * f);
  return [f, first, (s * (1 - s)) / (2 * f) - (first * first) / f];
});
/** Below e^-87 float32 has no normal numbers left. */
const expTable = taylorTable(-87, 0, (z) => [Math.exp(z), Math.exp(z), Math.exp(z)]);

/**
 * Turns rows of logits into scores in place, [rowCount x expertCount] from the start of `values`.
 * Within 2e-7 relative of `scoreRowNaive`; softmax, whose differences are taken in float32, within 2e-7 times
 * one plus the distance of the logit from the largest.
 */
export function scoreRows(
  scoring: Scoring,
  values: Float32Array,
  rowCount: number,
  expertCount: number,
): void {
  const end = rowCount * expertCount;
  if (scoring === 'sigmoid') {
    applyTable(sigmoidTable, values, 0, end, sigmoid);
  } else if (scoring === 'sqrt-softplus') {
    applyTable(sqrtSoftplusTable, values, 0, end, sqrtSoftplus);
  } else {
    for (let row = 0; row < rowCount; row++) softmaxRow(values, row * expertCount, expertCount);
  }
}

function softmaxRow(values: Float32Array, offset: number, expertCount: number): void {
  const end = offset + expertCount;
  expRow(values, offset, expertCount, 1);
  let sum = 0;
  for (let i = offset; i < end; i++) sum += values[i];
  const scale = 1 / sum;
  for (let i = offset; i < end; i++) values[i] *= scale;
}

/** Replaces a row of logits by exp((z - largest) / temperature). */
export function expRow(values: Float32Array, offset: number, expertCount: number, temperature: number): void {
  const end = offset + expertCount;
  let max = -Infinity;
  for (let i = offset; i < end; i++) if (values[i] > max) max = values[i];
  const scale = 1 / temperature;
  for (let i = offset; i < end; i++) values[i] = (values[i] - max) * scale;
  applyTable(expTable, values, offset, end, Math.exp);
}
