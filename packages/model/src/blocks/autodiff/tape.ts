/**
 * Gradients by recording: each operation computes its result and leaves behind how to pass gradients back.
 * Its one idea: an operation on whole matrices is one record, so a forward pass of a model is a few hundred
 * records, and going through them backwards is the gradient of everything.
 * All in double precision, so that central differences can check it. Knows nothing about layers.
 */

/** A matrix [rows x columns], row-major, and the gradient of the loss by it. */
export interface Node {
  readonly rows: number;
  readonly columns: number;
  readonly values: Float64Array;
  readonly grads: Float64Array;
}

/** A fresh node whose gradient is zero. */
export function nodeOf(rows: number, columns: number, values = new Float64Array(rows * columns)): Node {
  if (values.length !== rows * columns) {
    throw new RangeError(`${values.length} values are not a matrix [${rows} x ${columns}]`);
  }
  return { rows, columns, values, grads: new Float64Array(values.length) };
}

export class Tape {
  readonly #records: (() => void)[] = [];

  /** Keeps what an operation does with its result's gradient: add its share to the gradients of its inputs. */
  record(passBack: () => void): void {
    this.#records.push(passBack);
  }

  /** Adds to every node's gradient that of `loss` [1 x 1], times `seed`. The tape is empty afterwards. */
  backward(loss: Node, seed = 1): void {
    if (loss.values.length !== 1)
      throw new RangeError(`a loss is one number, not [${loss.rows} x ${loss.columns}]`);
    loss.grads[0] += seed;
    for (let i = this.#records.length - 1; i >= 0; i--) this.#records[i]();
    this.#records.length = 0;
  }
}
