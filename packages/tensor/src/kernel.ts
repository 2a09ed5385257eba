/**
 * Vector kernels on one WebAssembly memory: plain SIMD128, the same bits on every machine.
 * Its one idea: arguments are byte offsets into a memory that several threads may share, so weights,
 * rows and results never leave it. A row's result never depends on which rows are computed beside it.
 * Knows nothing about tokens or experts. The plain form of each method stands in naive.ts.
 */
import { PANEL_COLUMNS, packedIndex, roundUp } from './layout.js';
import type { Glu } from './naive.js';
import {
  decodeRowNaive,
  elementBytes,
  encodeRowNaive,
  ROW_LAYOUTS,
  type RowFormat,
  rowBytes,
} from './row-codec.js';
import { instantiate, type KernelMemory } from './wasm-host.js';
import { weightKeys } from './weights.js';

/** C [m x n] (+)= A [m x k] * B. A and C are row-major f32; offsets are bytes, strides are elements. */
export interface GemmCall {
  readonly a: number;
  /** A matrix packed as layout.ts says. */
  readonly b: number;
  readonly c: number;
  readonly m: number;
  readonly k: number;
  readonly n: number;
  /** Elements from one row of A to the next; default k rounded up to 4. Elements of A beyond k must be finite. */
  readonly aStride?: number;
  /** Elements from one row of C to the next; default n rounded up to 8. That many are written. */
  readonly cStride?: number;
  readonly accumulate?: boolean;
}

/** Rows of a gated activation; offsets in bytes, strides in elements (default `width`). `out` may be `gate`. */
export interface GluCall {
  readonly gate: number;
  readonly up: number;
  readonly out: number;
  readonly rows: number;
  readonly width: number;
  readonly inStride?: number;
  readonly outStride?: number;
}

/** out [width] = sum of `terms` rows of `rows`, each times its weight, in order. Offsets in bytes. */
export interface WeightedSumCall {
  readonly out: number;
  readonly rows: number;
  readonly width: number;
  /** i32 [terms], row numbers; a negative one is left out. */
  readonly index: number;
  /** f32 [terms] */
  readonly weights: number;
  readonly terms: number;
}

export interface Kernel {
  readonly memory: KernelMemory;
  /**
   * B packed as f32. 28 to 35 x the plain loops on 64 x 3584 x 64, 9 x loops blocked by hand (npm run bench -- gemm).
   * The error against exact sums stays below 2e-6 times the sum of |a b|.
   */
  gemmF32(call: GemmCall): void;
  /** B packed as BF16, at about the speed of f32 and half its bytes. */
  gemmBf16(call: GemmCall): void;
  /**
   * Writes `weightAt(seed, row * roundUp(n, 8) + column, scale)` for all of a packed BF16 [k x n] matrix,
   * about 2 G weights a second into memory that was touched before.
   */
  fillWeightsBf16(out: number, k: number, n: number, seed: number, scale: number): void;
  /** Relative error below 2e-6 against `gluAt`. */
  glu(glu: Glu, call: GluCall): void;
  /** out = 1 / (1 + e^-x) over `count` floats; relative error below 1e-6 for |x| <= 87. */
  sigmoid(x: number, out: number, count: number): void;
  /** Rows of `width` divided by their root mean square, times gain [width]. */
  rmsNorm(x: number, gain: number, out: number, rows: number, width: number, eps: number): void;
  /** out [count] += weight * x [count] */
  axpy(out: number, x: number, count: number, weight: number): void;
  weightedSum(call: WeightedSumCall): void;
  /**
   * The k largest of each of `rows` rows of `count` scores: i32 ids and f32 values, [rows x k], as the function
   * `topK` gives them. 1.8 x that function on 4096 rows of 896, k 16 (8.5 ms).
   */
  topK(scores: number, rows: number, count: number, k: number, ids: number, values: number): void;
  /** f32 rows [rows x width] to `rowBytes(format, width)` bytes each, the same bytes as `encodeRowNaive`. */
  encodeRows(format: RowFormat, x: number, out: number, rows: number, width: number): void;
  /** The inverse of `encodeRows`, the same floats as `decodeRowNaive`. */
  decodeRows(format: RowFormat, x: number, out: number, rows: number, width: number): void;
}

type Fn = (...args: readonly number[]) => void;
type Exports = Readonly<Record<string, Fn>>;

/** Rows of k that one pass over the columns takes: 8 columns of f32 are 16 KiB, half a first-level cache. */
const K_BLOCK = 512;

function gemm(run: Fn, call: GemmCall): void {
  const { m } = call;
  const k = roundUp(call.k, 4);
  const n = roundUp(call.n, PANEL_COLUMNS);
  const aStride = call.aStride ?? k;
  const cStride = call.cStride ?? n;
  if (!(m >= 0 && k > 0 && n > 0))
    throw new RangeError(`gemm: [${m} x ${call.k}] * [${call.k} x ${call.n}] has no elements`);
  if (aStride < k || cStride < n) {
    throw new RangeError(`gemm: strides ${aStride} and ${cStride} are shorter than rows of ${k} and ${n}`);
  }
  if (m === 0) return;
  run(call.a, aStride * 4, call.b, k, call.c, cStride * 4, m, n, K_BLOCK, call.accumulate === true ? 1 : 0);
}

function fill(
  run: Fn,
  memory: KernelMemory,
  out: number,
  k: number,
  n: number,
  seed: number,
  scale: number,
): void {
  const rows = roundUp(k, 4);
  const columns = roundUp(n, PANEL_COLUMNS);
  const [key0, key1] = weightKeys(seed);
  run(out, rows, columns, key0, key1, Math.fround(Math.fround(scale) / 2147483648));
  if (rows === k && columns === n) return;
  const packed = new Uint16Array(memory.buffer, out, rows * columns);
  for (let row = 0; row < rows; row++) {
    for (let column = row < k ? n : 0; column < columns; column++)
      packed[packedIndex('bf16', row, column, k)] = 0;
  }
}

function runGlu(exports: Exports, glu: Glu, call: GluCall): void {
  const { gate, up, out, rows, width } = call;
  const inBytes = (call.inStride ?? width) * 4;
  const outBytes = (call.outStride ?? width) * 4;
  if (inBytes < width * 4 || outBytes < width * 4) {
    throw new RangeError(`glu: strides ${inBytes / 4} and ${outBytes / 4} are shorter than rows of ${width}`);
  }
  if (glu.kind === 'swiglu') {
    exports.swiglu(gate, up, out, rows, width, inBytes, outBytes);
    return;
  }
  const upBound = glu.upBound ?? 0;
  if (!(glu.gateBound > 0) || !(glu.upBound === null || upBound > 0)) {
    throw new RangeError(`glu: bounds ${glu.gateBound} and ${glu.upBound} must be above 0`);
  }
  const upInverse = upBound === 0 ? 0 : 1 / upBound;
  exports.situ(
    gate,
    up,
    out,
    rows,
    width,
    inBytes,
    outBytes,
    glu.gateBound,
    1 / glu.gateBound,
    upBound,
    upInverse,
  );
}

/** Whole blocks through the vector form, the short last block of each row through the plain one. */
function codeRows(
  exports: Exports,
  memory: KernelMemory,
  direction: 'encode' | 'decode',
  format: RowFormat,
  floats: number,
  bytes: number,
  rows: number,
  width: number,
): void {
  const wide = rowBytes(format, width);
  if (format === 'fp32') {
    const all = new Uint8Array(memory.buffer);
    const [from, to] = direction === 'encode' ? [floats, bytes] : [bytes, floats];
    all.copyWithin(to, from, from + rows * wide);
    return;
  }
  const run = exports[`${direction}_${format}`];
  const { blockSize } = ROW_LAYOUTS[format];
  const blocks = Math.floor(width / blockSize);
  const scalesAt = elementBytes(format, width);
  for (let row = 0; row < rows; row++) {
    const x = floats + row * width * 4;
    const y = bytes + row * wide;
    const [from, to] = direction === 'encode' ? [x, y] : [y, x];
    if (format === 'bf16') run(from, to, blocks);
    else run(from, to, y + scalesAt, blocks);
    if (blocks * blockSize === width) continue;
    const values = new Float32Array(memory.buffer, x, width);
    const view = new DataView(memory.buffer, y, wide);
    if (direction === 'encode') encodeRowNaive(format, values, view, blocks);
    else decodeRowNaive(format, view, values, blocks);
  }
}

/**
 * A kernel on `memory`, instantiated at once; the module is compiled once per realm.
 * The memory must have a maximum, as those of `createMemory` do. Several kernels may share one memory.
 */
export function createKernel(memory: KernelMemory): Kernel {
  const exports = instantiate(memory) as Exports;
  return {
    memory,
    gemmF32: (call) => gemm(exports.gemm_f32, call),
    gemmBf16: (call) => gemm(exports.gemm_bf16, call),
    fillWeightsBf16: (out, k, n, seed, scale) => fill(exports.fill_bf16, memory, out, k, n, seed, scale),
    glu: (glu, call) => runGlu(exports, glu, call),
    sigmoid: (x, out, count) => exports.sigmoid(x, out, count),
    rmsNorm: (x, gain, out, rows, width, eps) => exports.rms_norm(x, gain, out, rows, width, eps),
    axpy: (out, x, count, weight) => exports.axpy(out, x, count, weight),
    weightedSum: ({ out, rows, width, index, weights, terms }) =>
      exports.weighted_sum(out, rows, width * 4, index, weights, terms, width),
    topK: (scores, rows, count, k, ids, values) => {
      if (!(k >= 1 && k <= count)) throw new RangeError(`cannot take the ${k} largest of ${count}`);
      exports.top_k(scores, rows, count, k, ids, values);
    },
    encodeRows: (format, x, out, rows, width) =>
      codeRows(exports, memory, 'encode', format, x, out, rows, width),
    decodeRows: (format, x, out, rows, width) =>
      codeRows(exports, memory, 'decode', format, out, x, rows, width),
  };
}
