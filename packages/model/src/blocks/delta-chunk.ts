/**
 * The gated delta rule a chunk of tokens at a time, as matrix products.
 * With G the running sum of log decays inside the chunk and S the state before it:
 *   (I + L) U = diag(beta) (V - (e^G K) S)     L_ij = beta_i sum_d k_id k_jd e^(G_id - G_jd), j < i
 *   O = (e^G Q) S + tril(sum_d q_id k_jd e^(G_id - G_jd)) U
 *   S <- Diag(e^G_last) S + (e^(G_last - G) K)^T U
 * Its one idea: e^(G_i - G_j) is split at the chunk's midpoint into e^(G_i - M) e^(M - G_j), so the sums over d
 * are plain dense products. That is safe only where decay is bounded: each factor's exponent stays within
 * half a chunk of bounds (16 tokens at -5: 40), while f32 ends at e^88. Factors are kept in f32 on purpose.
 * Formula: flash-linear-attention's naive chunk form; the recurrence it equals stands in delta-rule.ts.
 */
import { type DeltaInputs, deltaTokens } from './delta-rule.js';

/** Tokens in a tile that K3's bound of -5 keeps inside f32 with room to spare. */
export const TILE_TOKENS = 16;

/** Largest |exponent| of a factor in a tile: half the tile's tokens, each decaying by `bound` at most. */
export function tileExponent(bound: number, tokens: number): number {
  return Math.abs(bound) * Math.ceil(tokens / 2);
}

/** One head's view of a chunk: rows [size x dim], in f32. */
interface Tile {
  readonly size: number;
  readonly dim: number;
  /** k e^(G - M), q e^(G - M) and k e^(M - G). */
  readonly keyAfter: Float32Array;
  readonly queryAfter: Float32Array;
  readonly keyBefore: Float32Array;
  /** G, running sums of log decay, and M, its value at the middle token [dim]. */
  readonly sums: Float64Array;
  readonly middle: Float64Array;
}

function tileOf(inputs: DeltaInputs, head: number, first: number, size: number): Tile {
  const { headCount, headDim: dim, key, query, logDecay } = inputs;
  const sums = new Float64Array(size * dim);
  const at = (i: number) => ((first + i) * headCount + head) * dim;
  for (let i = 0; i < size; i++) {
    for (let d = 0; d < dim; d++) {
      sums[i * dim + d] = (i === 0 ? 0 : sums[(i - 1) * dim + d]) + logDecay[at(i) + d];
    }
  }
  const middle = sums.slice((size >> 1) * dim, ((size >> 1) + 1) * dim);
  const [keyAfter, queryAfter, keyBefore] = [0, 1, 2].map(() => new Float32Array(size * dim));
  for (let i = 0; i < size; i++) {
    for (let d = 0; d < dim; d++) {
      const after = Math.fround(Math.exp(sums[i * dim + d] - middle[d]));
      keyAfter[i * dim + d] = key[at(i) + d] * after;
      queryAfter[i * dim + d] = query[at(i) + d] * after;
      keyBefore[i * dim + d] = key[at(i) + d] * Math.fround(Math.exp(middle[d] - sums[i * dim + d]));
    }
  }
  return { size, dim, keyAfter, queryAfter, keyBefore, sums, middle };
}

function dot(a: Float32Array, i: number, b: Float32Array, j: number, dim: number): number {
  let sum = 0;
  for (let d = 0; d < dim; d++) sum += a[i * dim + d] * b[j * dim + d];
  return sum;
}

/** Rows of `after` carried back to the chunk's start, times the state: (e^G x) S, [size x dim]. */
function readState(tile: Tile, after: Float32Array, memory: Float32Array, state: number): Float64Array {
  const { size, dim, middle } = tile;
  const out = new Float64Array(size * dim);
  for (let i = 0; i < size; i++) {
    for (let d = 0; d < dim; d++) {
      const x = after[i * dim + d] * Math.exp(middle[d]);
      for (let c = 0; c < dim; c++) out[i * dim + c] += x * memory[state + d * dim + c];
    }
  }
  return out;
}

/** Forward substitution for U [size x dim]: what each token writes, given those before it in the chunk. */
function writes(
  tile: Tile,
  inputs: DeltaInputs,
  head: number,
  first: number,
  predicted: Float64Array,
): Float64Array {
  const { size, dim } = tile;
  const u = new Float64Array(size * dim);
  for (let i = 0; i < size; i++) {
    const row = (first + i) * inputs.headCount + head;
    const beta = inputs.beta[row];
    for (let c = 0; c < dim; c++) u[i * dim + c] = inputs.value[row * dim + c] - predicted[i * dim + c];
    for (let j = 0; j < i; j++) {
      const overlap = dot(tile.keyAfter, i, tile.keyBefore, j, dim);
      for (let c = 0; c < dim; c++) u[i * dim + c] -= overlap * u[j * dim + c];
    }
    for (let c = 0; c < dim; c++) u[i * dim + c] *= beta;
  }
  return u;
}

/** S <- Diag(e^G_last) S + (e^(G_last - G) K)^T U. */
function moveState(tile: Tile, u: Float64Array, memory: Float32Array, state: number): void {
  const { size, dim, sums, middle, keyBefore } = tile;
  for (let d = 0; d < dim; d++) {
    const last = sums[(size - 1) * dim + d];
    const fromMiddle = Math.exp(last - middle[d]);
    for (let c = 0; c < dim; c++) {
      let sum = Math.exp(last) * memory[state + d * dim + c];
      for (let i = 0; i < size; i++) sum += fromMiddle * keyBefore[i * dim + d] * u[i * dim + c];
      memory[state + d * dim + c] = sum;
    }
  }
}

function chunkOfHead(
  inputs: DeltaInputs,
  head: number,
  first: number,
  size: number,
  memory: Float32Array,
  out: Float32Array,
) {
  const dim = inputs.headDim;
  const state = head * dim * dim;
  const tile = tileOf(inputs, head, first, size);
  const u = writes(tile, inputs, head, first, readState(tile, tile.keyAfter, memory, state));
  const read = readState(tile, tile.queryAfter, memory, state);
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      const overlap = dot(tile.queryAfter, i, tile.keyBefore, j, dim);
      for (let c = 0; c < dim; c++) read[i * dim + c] += overlap * u[j * dim + c];
    }
    const base = ((first + i) * inputs.headCount + head) * dim;
    for (let c = 0; c < dim; c++) out[base + c] = read[i * dim + c];
  }
  moveState(tile, u, memory, state);
}

/** As `deltaRecurrent`, in chunks of `chunkTokens`; equal to it within f32 rounding where exponents stay finite. */
export function deltaChunkwise(
  inputs: DeltaInputs,
  memory: Float32Array,
  chunkTokens = TILE_TOKENS,
): Float32Array {
  const { headCount, headDim } = inputs;
  const tokens = deltaTokens(inputs, memory);
  if (!(chunkTokens >= 1)) throw new RangeError(`delta rule: chunks of ${chunkTokens} tokens`);
  const out = new Float32Array(tokens * headCount * headDim);
  for (let first = 0; first < tokens; first += chunkTokens) {
    const size = Math.min(chunkTokens, tokens - first);
    for (let head = 0; head < headCount; head++) chunkOfHead(inputs, head, first, size, memory, out);
  }
  return out;
}
