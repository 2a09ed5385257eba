/**
 * A real gradient of the miniature's fused query, key and value projection, orthogonalised head by head and whole.
 */
import {
  encodeText,
  k3Loss,
  miniText,
  newtonSchulz,
  orthogonalityError,
  orthogonalizeFlops,
  parameterOf,
  seededMaker,
  Tape,
  trainableParameters,
} from '@epsim/model';
import type { MuonPart } from '@epsim/report';
import type { ModelShape } from '@epsim/spec';
import { round, rounded } from './numbers.js';

const PARTS = ['query', 'key', 'value'] as const;
const STEPS = 5;
const POOL = 4;

/** Gradient of the packed projection, rows are outputs: [3 * inner x hidden]. */
function packedGradient(shape: ModelShape, seed: number, layer: number, tokens: number): Float64Array {
  const parameters = trainableParameters(shape, seededMaker(shape, seed));
  const tape = new Tape();
  const ids = encodeText(miniText(seed, 40)).subarray(0, tokens + 1);
  tape.backward(k3Loss(tape, shape, parameters, ids));
  const parts = PARTS.map((part) => {
    const { rows, columns, grads } = parameterOf(parameters, `layers.${layer}.kda.${part}`);
    return Float64Array.from(
      { length: grads.length },
      (_, i) => grads[(i % rows) * columns + Math.floor(i / rows)],
    );
  });
  return Float64Array.from(parts.flatMap((part) => [...part]));
}

function blocksOf(matrix: Float64Array, size: number): Float64Array[] {
  return Array.from({ length: matrix.length / size }, (_, i) => matrix.subarray(i * size, (i + 1) * size));
}

function gram(x: Float64Array, rows: number, columns: number): number[] {
  return Array.from({ length: rows * rows }, (_, at) => {
    let sum = 0;
    for (let c = 0; c < columns; c++) {
      sum += x[Math.floor(at / rows) * columns + c] * x[(at % rows) * columns + c];
    }
    return round(sum, 4);
  });
}

export function muonPart(shape: ModelShape, seed: number, layer: number, tokens: number): MuonPart {
  const { attention } = shape.layers[layer];
  if (attention?.kind !== 'kda') throw new RangeError(`layer ${layer} has no delta attention`);
  const { headCount, headDim: blockRows } = attention;
  const columns = shape.hiddenSize;
  const rows = PARTS.length * headCount * blockRows;
  const gradient = packedGradient(shape, seed, layer, tokens);
  const size = blockRows * columns;
  const after = (steps: number) => {
    const perHead = blocksOf(gradient, size).map((block) => newtonSchulz(block, blockRows, columns, steps));
    const whole = blocksOf(newtonSchulz(gradient, rows, columns, steps), size);
    const errors = (blocks: readonly Float64Array[]) =>
      blocks.map((block) => orthogonalityError(block, blockRows, columns));
    return { perHead, whole, perHeadErrors: errors(perHead), wholeErrors: errors(whole) };
  };
  const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
  const all = Array.from({ length: STEPS + 1 }, (_, steps) => after(steps));
  const last = all[STEPS];
  return {
    source: 'gradient',
    layer,
    rows,
    columns,
    blockRows,
    pool: POOL,
    pooled: pooled(gradient, rows, columns),
    blocks: last.perHeadErrors.map((perHead, i) => ({
      name: `${PARTS[Math.floor(i / headCount)]} head ${i % headCount}`,
      perHead: round(perHead),
      whole: round(last.wholeErrors[i]),
    })),
    steps: all.map((step) => ({
      perHead: round(mean(step.perHeadErrors)),
      whole: round(mean(step.wholeErrors)),
    })),
    gramPerHead: gram(last.perHead[0], blockRows, columns),
    gramWhole: gram(last.whole[0], blockRows, columns),
    flopsPerHead: orthogonalizeFlops(rows, columns, blockRows),
    flopsWhole: orthogonalizeFlops(rows, columns, rows),
  };
}

/** Mean |element| over squares, row-major. */
function pooled(matrix: Float64Array, rows: number, columns: number): number[] {
  const across = columns / POOL;
  const sums = new Float64Array((rows / POOL) * across);
  for (let i = 0; i < matrix.length; i++) {
    const row = Math.floor(i / columns / POOL);
    sums[row * across + Math.floor((i % columns) / POOL)] += Math.abs(matrix[i]) / POOL ** 2;
  }
  return rounded(sums, 3);
}
