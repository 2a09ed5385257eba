/**
 * Products and selections of matrices on a tape.
 */
import { type Node, nodeOf, type Tape } from './tape.js';

/** a [m x k] * b [k x n]. Throws RangeError when the inner sizes differ. */
export function matmul(tape: Tape, a: Node, b: Node): Node {
  const [m, k, n] = [a.rows, a.columns, b.columns];
  if (k !== b.rows) throw new RangeError(`[${m} x ${k}] * [${b.rows} x ${n}]: inner sizes differ`);
  const out = nodeOf(m, n);
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < k; j++) {
      const x = a.values[i * k + j];
      for (let c = 0; c < n; c++) out.values[i * n + c] += x * b.values[j * n + c];
    }
  }
  tape.record(() => {
    for (let i = 0; i < m; i++) {
      for (let j = 0; j < k; j++) {
        const x = a.values[i * k + j];
        let sum = 0;
        for (let c = 0; c < n; c++) {
          const g = out.grads[i * n + c];
          sum += g * b.values[j * n + c];
          b.grads[j * n + c] += x * g;
        }
        a.grads[i * k + j] += sum;
      }
    }
  });
  return out;
}

export function add(tape: Tape, a: Node, b: Node): Node {
  if (a.values.length !== b.values.length) {
    throw new RangeError(`[${a.rows} x ${a.columns}] + [${b.rows} x ${b.columns}]: sizes differ`);
  }
  const out = nodeOf(
    a.rows,
    a.columns,
    a.values.map((x, i) => x + b.values[i]),
  );
  tape.record(() => {
    for (let i = 0; i < out.grads.length; i++) {
      a.grads[i] += out.grads[i];
      b.grads[i] += out.grads[i];
    }
  });
  return out;
}

/** Columns [from, to) of every row. */
export function sliceColumns(tape: Tape, a: Node, from: number, to: number): Node {
  const wide = to - from;
  const out = nodeOf(a.rows, wide);
  for (let r = 0; r < a.rows; r++) {
    out.values.set(a.values.subarray(r * a.columns + from, r * a.columns + to), r * wide);
  }
  tape.record(() => {
    for (let r = 0; r < a.rows; r++) {
      for (let c = 0; c < wide; c++) a.grads[r * a.columns + from + c] += out.grads[r * wide + c];
    }
  });
  return out;
}

/** The rows of `a` that `index` names, in its order; a row may be named more than once. */
export function gatherRows(tape: Tape, a: Node, index: ArrayLike<number>): Node {
  const wide = a.columns;
  const out = nodeOf(index.length, wide);
  for (let r = 0; r < index.length; r++) {
    out.values.set(a.values.subarray(index[r] * wide, (index[r] + 1) * wide), r * wide);
  }
  tape.record(() => {
    for (let r = 0; r < index.length; r++) {
      for (let c = 0; c < wide; c++) a.grads[index[r] * wide + c] += out.grads[r * wide + c];
    }
  });
  return out;
}
