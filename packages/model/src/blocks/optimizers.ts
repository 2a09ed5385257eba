/**
 * What turns gradients into steps: Muon on whole matrices, Muon per head, AdamW on the rest.
 * Its one idea (Kimi K3): a fused projection is storage, not geometry. Each head's block of rows is
 * orthogonalised by itself, so no head's step depends on its neighbours, at a fraction of the work.
 * Sources: Moonlight's Muon (momentum 0.95 with Nesterov, step 0.2 sqrt(max(rows, columns)), decoupled decay);
 * per-head blocks as in public implementations of Kimi K3's optimizer; Loshchilov and Hutter's AdamW.
 */
import { newtonSchulz, orthogonalityError } from './newton-schulz.js';

/** Orthogonalises each block of `blockRows` rows of a matrix [rows x columns] by itself. */
export function orthogonalizeBlocks(
  matrix: Float64Array,
  rows: number,
  columns: number,
  blockRows: number,
): Float64Array {
  if (rows % blockRows !== 0) throw new RangeError(`${rows} rows are not whole blocks of ${blockRows}`);
  const out = new Float64Array(matrix.length);
  const size = blockRows * columns;
  for (let from = 0; from < matrix.length; from += size) {
    out.set(newtonSchulz(matrix.subarray(from, from + size), blockRows, columns), from);
  }
  return out;
}

/** FLOPs of five Newton-Schulz steps on blocks of `blockRows` rows: per block two products with n, one of n^2. */
export function orthogonalizeFlops(rows: number, columns: number, blockRows: number): number {
  const n = Math.min(blockRows, columns);
  const m = Math.max(blockRows, columns);
  return (rows / blockRows) * 5 * (4 * n * n * m + 2 * n ** 3);
}

/**
 * How far the blocks of a packed gradient are from orthogonal, as the mean over blocks, when each is
 * orthogonalised by itself and when the whole matrix is.
 */
export function blockOrthogonality(
  matrix: Float64Array,
  rows: number,
  columns: number,
  blockRows: number,
): { readonly perBlock: number; readonly whole: number } {
  const size = blockRows * columns;
  const meanError = (result: Float64Array) => {
    let sum = 0;
    for (let from = 0; from < result.length; from += size) {
      sum += orthogonalityError(result.subarray(from, from + size), blockRows, columns);
    }
    return (sum * blockRows) / rows;
  };
  return {
    perBlock: meanError(orthogonalizeBlocks(matrix, rows, columns, blockRows)),
    whole: meanError(orthogonalizeBlocks(matrix, rows, columns, rows)),
  };
}

export interface MuonOptions {
  readonly learningRate: number;
  readonly momentum: number;
  readonly weightDecay: number;
}

/**
 * One step of Muon on `weights` [rows x columns], in place. `velocity` is the momentum, kept by the caller.
 * `blockRows` = rows orthogonalises the whole matrix; the rows of one head, each head by itself.
 */
export function muonStep(
  weights: Float64Array,
  gradient: Float64Array,
  velocity: Float64Array,
  sizes: { readonly rows: number; readonly columns: number; readonly blockRows: number },
  options: MuonOptions,
): void {
  const { rows, columns, blockRows } = sizes;
  const ahead = new Float64Array(weights.length);
  for (let i = 0; i < weights.length; i++) {
    velocity[i] = options.momentum * velocity[i] + gradient[i];
    ahead[i] = gradient[i] + options.momentum * velocity[i];
  }
  const direction = orthogonalizeBlocks(ahead, rows, columns, blockRows);
  const step = options.learningRate * 0.2 * Math.sqrt(Math.max(blockRows, columns));
  const keep = 1 - options.learningRate * options.weightDecay;
  for (let i = 0; i < weights.length; i++) weights[i] = keep * weights[i] - step * direction[i];
}

export interface AdamOptions {
  readonly learningRate: number;
  readonly weightDecay: number;
}

/** Running means of the gradient and of its square. */
export interface AdamState {
  readonly mean: Float64Array;
  readonly square: Float64Array;
  steps: number;
}

export function adamState(length: number): AdamState {
  return { mean: new Float64Array(length), square: new Float64Array(length), steps: 0 };
}

/** One step of AdamW (beta 0.9 and 0.95, eps 1e-8) on `weights`, in place. */
export function adamStep(
  weights: Float64Array,
  gradient: Float64Array,
  state: AdamState,
  options: AdamOptions,
): void {
  state.steps++;
  const meanPart = 1 - 0.9 ** state.steps;
  const squarePart = 1 - 0.95 ** state.steps;
  const keep = 1 - options.learningRate * options.weightDecay;
  for (let i = 0; i < weights.length; i++) {
    state.mean[i] = 0.9 * state.mean[i] + 0.1 * gradient[i];
    state.square[i] = 0.95 * state.square[i] + 0.05 * gradient[i] ** 2;
    const direction = state.mean[i] / meanPart / (Math.sqrt(state.square[i] / squarePart) + 1e-8);
    weights[i] = keep * weights[i] - options.learningRate * direction;
  }
}
