/**
 * Gated multi-head latent attention without rotary embedding: the global read of Kimi K3.
 *   q = RMSNorm(x Wqa) Wqb;  [c | e] = x Wkva, c <- RMSNorm(c);  key of a head = [c Wkb | e], value = c Wvb
 *   out = (softmax(q . key / sqrt(dim)) value * sigmoid(x Wgate)) Wout
 * Its one idea: only [c | e] of each token is kept; a head's key and value are never formed, because its query
 * can be carried into the latent instead (q Wkb^T), and what it read can be expanded afterwards.
 * The plain form that forms keys and values stands in mla-expanded.ts. Position enters nowhere but through
 * the causal order. Formula: NeMo Automodel's kimi_k3; the absorbed form: DeepSeek-V2.
 */
import type { AttentionShape } from '@epsim/spec';
import { sigmoid } from '@epsim/tensor';
import { linear, rowCount, softmaxInPlace } from './linear.js';
import { rmsNorm } from './rms-norm.js';

export type MlaShape = Extract<AttentionShape, { kind: 'mla' }>;

/** `queryDim` is nope + rope; `rope` elements are shared by all heads and, here, never rotated. */
export interface MlaWeights {
  /** [hidden x qRank], [qRank], or null where queries are projected directly. */
  readonly queryDown: Float32Array | null;
  readonly queryNorm: Float32Array | null;
  /** [qRank or hidden x heads * queryDim] */
  readonly queryUp: Float32Array;
  /** [hidden x (kvRank + rope)] */
  readonly latentDown: Float32Array;
  /** [kvRank] */
  readonly latentNorm: Float32Array;
  /** [kvRank x heads * nope] */
  readonly keyUp: Float32Array;
  /** [kvRank x heads * valueDim] */
  readonly valueUp: Float32Array;
  /** [hidden x heads * valueDim], or null without an output gate. */
  readonly gate: Float32Array | null;
  /** [heads * valueDim x hidden] */
  readonly out: Float32Array;
}

/** What a sequence keeps: [kvRank + rope] floats of each token so far, in order. */
export interface MlaCache {
  readonly width: number;
  tokens: number;
  /** Room for more tokens than there are; grows by doubling. */
  rows: Float32Array;
}

export function mlaCache(shape: MlaShape): MlaCache {
  const width = shape.kvLoraRank + shape.ropeHeadDim;
  return { width, tokens: 0, rows: new Float32Array(16 * width) };
}

/** Queries of x, [tokens x heads x queryDim]. */
export function mlaQueries(x: Float32Array, hidden: number, shape: MlaShape, w: MlaWeights): Float32Array {
  const wide = shape.headCount * (shape.nopeHeadDim + shape.ropeHeadDim);
  if (w.queryDown === null || w.queryNorm === null || shape.qLoraRank === null) {
    return linear(x, w.queryUp, hidden, wide);
  }
  const low = rmsNorm(linear(x, w.queryDown, hidden, shape.qLoraRank), w.queryNorm);
  return linear(low, w.queryUp, shape.qLoraRank, wide);
}

/** Rows to be kept of x, [tokens x (kvRank + rope)]: the normalised latent, then the shared extra key. */
export function mlaLatents(x: Float32Array, hidden: number, shape: MlaShape, w: MlaWeights): Float32Array {
  const { kvLoraRank: rank, ropeHeadDim } = shape;
  const rows = linear(x, w.latentDown, hidden, rank + ropeHeadDim);
  for (let from = 0; from < rows.length; from += rank + ropeHeadDim) {
    rows.set(rmsNorm(rows.subarray(from, from + rank), w.latentNorm), from);
  }
  return rows;
}

function append(cache: MlaCache, rows: Float32Array): void {
  const used = cache.tokens * cache.width;
  if (used + rows.length > cache.rows.length) {
    const grown = new Float32Array(2 * (used + rows.length));
    grown.set(cache.rows.subarray(0, used));
    cache.rows = grown;
  }
  cache.rows.set(rows, used);
  cache.tokens += rows.length / cache.width;
}

/** A head's query in the coordinates of the kept rows, [kvRank + rope]: q Wkb^T, then its shared part. */
function carriedQuery(
  query: Float32Array,
  shape: MlaShape,
  w: MlaWeights,
  head: number,
  out: Float64Array,
): void {
  const { headCount, nopeHeadDim: nope, ropeHeadDim: rope, kvLoraRank: rank } = shape;
  const from = head * (nope + rope);
  for (let r = 0; r < rank; r++) {
    let sum = 0;
    for (let d = 0; d < nope; d++) sum += query[from + d] * w.keyUp[(r * headCount + head) * nope + d];
    out[r] = sum;
  }
  for (let d = 0; d < rope; d++) out[rank + d] = query[from + nope + d];
}

/** What one head reads for one query over the first `visible` kept rows, [valueDim] to `out`. */
function readHead(
  carried: Float64Array,
  cache: MlaCache,
  visible: number,
  shape: MlaShape,
  w: MlaWeights,
  head: number,
  out: Float32Array,
) {
  const { headCount, valueHeadDim, kvLoraRank: rank, nopeHeadDim, ropeHeadDim } = shape;
  const { width, rows } = cache;
  const scores = new Float64Array(visible);
  const scale = (nopeHeadDim + ropeHeadDim) ** -0.5;
  for (let t = 0; t < visible; t++) {
    let sum = 0;
    for (let i = 0; i < width; i++) sum += carried[i] * rows[t * width + i];
    scores[t] = sum * scale;
  }
  softmaxInPlace(scores);
  const latent = new Float64Array(rank);
  for (let t = 0; t < visible; t++) {
    for (let r = 0; r < rank; r++) latent[r] += scores[t] * rows[t * width + r];
  }
  for (let d = 0; d < valueHeadDim; d++) {
    let sum = 0;
    for (let r = 0; r < rank; r++) sum += latent[r] * w.valueUp[(r * headCount + head) * valueHeadDim + d];
    out[head * valueHeadDim + d] = sum;
  }
}

/** The output gate and projection over what all heads read, [tokens x hidden]. */
export function mlaOutput(
  read: Float32Array,
  x: Float32Array,
  hidden: number,
  shape: MlaShape,
  w: MlaWeights,
): Float32Array {
  const wide = shape.headCount * shape.valueHeadDim;
  if (w.gate !== null) {
    const gate = linear(x, w.gate, hidden, wide);
    for (let i = 0; i < read.length; i++) read[i] *= sigmoid(gate[i]);
  }
  return linear(read, w.out, wide, hidden);
}

/**
 * The mixer for the next tokens of a sequence, x [tokens x hidden]; returns [tokens x hidden].
 * Appends their latents to the cache; each token reads all before it and itself.
 */
export function gatedMla(
  x: Float32Array,
  hidden: number,
  shape: MlaShape,
  w: MlaWeights,
  cache: MlaCache,
): Float32Array {
  const tokens = rowCount(x, hidden);
  const before = cache.tokens;
  append(cache, mlaLatents(x, hidden, shape, w));
  const queries = mlaQueries(x, hidden, shape, w);
  const wide = queries.length / Math.max(1, tokens);
  const valueWide = shape.headCount * shape.valueHeadDim;
  const read = new Float32Array(tokens * valueWide);
  const carried = new Float64Array(cache.width);
  for (let token = 0; token < tokens; token++) {
    const query = queries.subarray(token * wide, (token + 1) * wide);
    const out = read.subarray(token * valueWide, (token + 1) * valueWide);
    for (let head = 0; head < shape.headCount; head++) {
      carriedQuery(query, shape, w, head, carried);
      readHead(carried, cache, before + token + 1, shape, w, head, out);
    }
  }
  return mlaOutput(read, x, hidden, shape, w);
}
