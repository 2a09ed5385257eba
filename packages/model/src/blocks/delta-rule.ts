/**
 * The gated delta rule of Kimi Delta Attention, token by token.
 *   S <- Diag(e^g) S;  S <- S + beta k (v - S^T k)^T;  o = S^T q
 * Its one idea: the state is a fixed matrix that predicts each value from its key; a token decays it, probes
 * it with its key, and writes what the prediction missed. The state keeps its size whatever the length.
 * Formula: flash-linear-attention's naive recurrence. The chunkwise form stands in delta-chunk.ts.
 */

export interface DeltaInputs {
  readonly headCount: number;
  readonly headDim: number;
  /** [tokens x heads x dim], keys and queries already normalised. */
  readonly query: Float32Array;
  readonly key: Float32Array;
  readonly value: Float32Array;
  /** Log decay of each channel of the key, at most 0, [tokens x heads x dim]. */
  readonly logDecay: Float32Array;
  /** Writing strength in (0, 1), [tokens x heads]. */
  readonly beta: Float32Array;
}

/** Tokens of the inputs. Throws RangeError when the arrays or the state disagree on the sizes. */
export function deltaTokens(inputs: DeltaInputs, memory: Float32Array): number {
  const { headCount, headDim, beta } = inputs;
  const tokens = beta.length / headCount;
  const wanted = tokens * headCount * headDim;
  for (const [name, array] of Object.entries({
    query: inputs.query,
    key: inputs.key,
    value: inputs.value,
    logDecay: inputs.logDecay,
  })) {
    if (array.length !== wanted) {
      throw new RangeError(
        `delta rule: ${name} has ${array.length} elements, beta says ${tokens} tokens, ${wanted}`,
      );
    }
  }
  if (memory.length !== headCount * headDim * headDim) {
    throw new RangeError(
      `delta rule: state of ${memory.length} is not [${headCount} x ${headDim} x ${headDim}]`,
    );
  }
  return tokens;
}

/**
 * One token of one head. `base` is where its [dim] slices of key, query, value and decay begin, `at` where the
 * head's state [dim x dim] begins. Writes what the state reads for the query to out[base..].
 */
function deltaStep(
  inputs: DeltaInputs,
  beta: number,
  base: number,
  memory: Float32Array,
  at: number,
  out: Float32Array,
) {
  const { headDim: dim, key, query, value, logDecay } = inputs;
  for (let row = 0; row < dim; row++) {
    const decay = Math.exp(logDecay[base + row]);
    for (let column = 0; column < dim; column++) memory[at + row * dim + column] *= decay;
  }
  for (let column = 0; column < dim; column++) {
    let predicted = 0;
    for (let row = 0; row < dim; row++) predicted += memory[at + row * dim + column] * key[base + row];
    const missed = beta * (value[base + column] - predicted);
    let read = 0;
    for (let row = 0; row < dim; row++) {
      memory[at + row * dim + column] += key[base + row] * missed;
      read += memory[at + row * dim + column] * query[base + row];
    }
    out[base + column] = read;
  }
}

/** Reads [tokens x heads x dim] for all tokens in order; the state [heads x dim x dim] is moved on. */
export function deltaRecurrent(inputs: DeltaInputs, memory: Float32Array): Float32Array {
  const { headCount, headDim } = inputs;
  const tokens = deltaTokens(inputs, memory);
  const out = new Float32Array(tokens * headCount * headDim);
  for (let token = 0; token < tokens; token++) {
    for (let head = 0; head < headCount; head++) {
      const row = token * headCount + head;
      deltaStep(inputs, inputs.beta[row], row * headDim, memory, head * headDim * headDim, out);
    }
  }
  return out;
}
