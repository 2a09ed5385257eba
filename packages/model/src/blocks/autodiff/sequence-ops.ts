/**
 * What mixes tokens of one sequence, on a tape: the short convolution, the gated delta rule, causal attention.
 * Each starts at the sequence's beginning.
 */
import { softmaxInPlace } from '../linear.js';
import { type Node, nodeOf, type Tape } from './tape.js';

/** SiLU of the causal convolution of x [tokens x channels] with taps [channels x size], nothing before the first token. */
export function shortConvOp(tape: Tape, x: Node, taps: Node): Node {
  const [tokens, channels, size] = [x.rows, x.columns, taps.columns];
  const sums = new Float64Array(x.values.length);
  const eachTap = (visit: (at: number, from: number, tap: number) => void) => {
    for (let t = 0; t < tokens; t++) {
      for (let tap = Math.max(0, size - 1 - t); tap < size; tap++) {
        for (let c = 0; c < channels; c++) {
          visit(t * channels + c, (t + tap - size + 1) * channels + c, c * size + tap);
        }
      }
    }
  };
  eachTap((at, from, tap) => {
    sums[at] += taps.values[tap] * x.values[from];
  });
  const out = nodeOf(
    tokens,
    channels,
    sums.map((sum) => sum / (1 + Math.exp(-sum))),
  );
  tape.record(() => {
    const slopes = sums.map((sum, i) => {
      const s = 1 / (1 + Math.exp(-sum));
      return out.grads[i] * s * (1 + sum * (1 - s));
    });
    eachTap((at, from, tap) => {
      x.grads[from] += slopes[at] * taps.values[tap];
      taps.grads[tap] += slopes[at] * x.values[from];
    });
  });
  return out;
}

/** Inputs of the delta rule, [tokens x heads * dim]; beta [tokens x heads]. */
export interface DeltaNodes {
  readonly query: Node;
  readonly key: Node;
  readonly value: Node;
  readonly logDecay: Node;
  readonly beta: Node;
}

/** One head's states after each token, [(tokens + 1) x dim x dim], the first zero; and what each token missed. */
interface HeadTrace {
  readonly states: Float64Array;
  /** v - S^T k with the decayed state, [tokens x dim]. */
  readonly missed: Float64Array;
}

function deltaHead(nodes: DeltaNodes, head: number, dim: number, out: Node): HeadTrace {
  const { query, key, value, logDecay, beta } = nodes;
  const [tokens, inner, area] = [query.rows, query.columns, dim * dim];
  const states = new Float64Array((tokens + 1) * area);
  const missed = new Float64Array(tokens * dim);
  for (let t = 0; t < tokens; t++) {
    const [base, before, after] = [t * inner + head * dim, t * area, (t + 1) * area];
    for (let r = 0; r < dim; r++) {
      const decay = Math.exp(logDecay.values[base + r]);
      for (let c = 0; c < dim; c++) states[after + r * dim + c] = decay * states[before + r * dim + c];
    }
    for (let c = 0; c < dim; c++) {
      let predicted = 0;
      for (let r = 0; r < dim; r++) predicted += states[after + r * dim + c] * key.values[base + r];
      missed[t * dim + c] = value.values[base + c] - predicted;
      const write = beta.values[t * beta.columns + head] * missed[t * dim + c];
      let read = 0;
      for (let r = 0; r < dim; r++) {
        states[after + r * dim + c] += key.values[base + r] * write;
        read += states[after + r * dim + c] * query.values[base + r];
      }
      out.values[base + c] = read;
    }
  }
  return { states, missed };
}

/** Passes gradients back through one head, last token first. `flow` is the gradient by the state, [dim x dim]. */
function deltaHeadBack(nodes: DeltaNodes, head: number, dim: number, out: Node, trace: HeadTrace): void {
  const { query, key, value, logDecay, beta } = nodes;
  const [tokens, inner, area] = [query.rows, query.columns, dim * dim];
  const flow = new Float64Array(area);
  const byMissed = new Float64Array(dim);
  for (let t = tokens - 1; t >= 0; t--) {
    const [base, before, after] = [t * inner + head * dim, t * area, (t + 1) * area];
    const strength = beta.values[t * beta.columns + head];
    for (let r = 0; r < dim; r++) {
      let byQuery = 0;
      for (let c = 0; c < dim; c++) {
        byQuery += trace.states[after + r * dim + c] * out.grads[base + c];
        flow[r * dim + c] += query.values[base + r] * out.grads[base + c];
      }
      query.grads[base + r] += byQuery;
    }
    let byStrength = 0;
    for (let c = 0; c < dim; c++) {
      let byWrite = 0;
      for (let r = 0; r < dim; r++) byWrite += flow[r * dim + c] * key.values[base + r];
      byStrength += byWrite * trace.missed[t * dim + c];
      byMissed[c] = byWrite * strength;
      value.grads[base + c] += byMissed[c];
    }
    beta.grads[t * beta.columns + head] += byStrength;
    for (let r = 0; r < dim; r++) {
      const decay = Math.exp(logDecay.values[base + r]);
      let byKey = 0;
      let byDecay = 0;
      for (let c = 0; c < dim; c++) {
        const decayed = decay * trace.states[before + r * dim + c];
        byKey += flow[r * dim + c] * strength * trace.missed[t * dim + c] - byMissed[c] * decayed;
        flow[r * dim + c] -= key.values[base + r] * byMissed[c];
        byDecay += flow[r * dim + c] * decayed;
        flow[r * dim + c] *= decay;
      }
      key.grads[base + r] += byKey;
      logDecay.grads[base + r] += byDecay;
    }
  }
}

/** Reads of the gated delta rule, [tokens x heads * dim]. */
export function deltaOp(tape: Tape, nodes: DeltaNodes): Node {
  const { query, beta } = nodes;
  const headCount = beta.columns;
  const dim = query.columns / headCount;
  const out = nodeOf(query.rows, query.columns);
  const traces = Array.from({ length: headCount }, (_, head) => deltaHead(nodes, head, dim, out));
  tape.record(() => {
    traces.forEach((trace, head) => {
      deltaHeadBack(nodes, head, dim, out, trace);
    });
  });
  return out;
}

/** Inputs of causal attention: per head its own key part, and one extra part that all heads share. */
export interface AttentionNodes {
  readonly headCount: number;
  /** [tokens x heads * (own + shared)] */
  readonly query: Node;
  /** [tokens x heads * own] */
  readonly key: Node;
  /** [tokens x shared], possibly of no columns. */
  readonly sharedKey: Node;
  /** [tokens x heads * valueDim] */
  readonly value: Node;
}

/** Attention weights of one head, [tokens x tokens], zero above the diagonal. */
function attentionWeights(nodes: AttentionNodes, head: number, own: number, shared: number): Float64Array {
  const { query, key, sharedKey } = nodes;
  const tokens = query.rows;
  const weights = new Float64Array(tokens * tokens);
  for (let t = 0; t < tokens; t++) {
    const row = weights.subarray(t * tokens, t * tokens + t + 1);
    const q = t * query.columns + head * (own + shared);
    for (let s = 0; s <= t; s++) {
      for (let d = 0; d < own; d++)
        row[s] += query.values[q + d] * key.values[s * key.columns + head * own + d];
      for (let d = 0; d < shared; d++) row[s] += query.values[q + own + d] * sharedKey.values[s * shared + d];
      row[s] /= Math.sqrt(own + shared);
    }
    softmaxInPlace(row);
  }
  return weights;
}

/** Passes the gradient by one query's scores back to query and keys. */
function scoresBack(
  nodes: AttentionNodes,
  head: number,
  t: number,
  byScore: Float64Array,
  own: number,
  shared: number,
): void {
  const { query, key, sharedKey } = nodes;
  const q = t * query.columns + head * (own + shared);
  const scale = 1 / Math.sqrt(own + shared);
  for (let s = 0; s <= t; s++) {
    const g = byScore[s] * scale;
    const k = s * key.columns + head * own;
    for (let d = 0; d < own; d++) {
      query.grads[q + d] += g * key.values[k + d];
      key.grads[k + d] += g * query.values[q + d];
    }
    for (let d = 0; d < shared; d++) {
      query.grads[q + own + d] += g * sharedKey.values[s * shared + d];
      sharedKey.grads[s * shared + d] += g * query.values[q + own + d];
    }
  }
}

/** What each head reads, [tokens x heads * valueDim]; a token reads those before it and itself. */
export function attentionOp(tape: Tape, nodes: AttentionNodes): Node {
  const { headCount, query, value, sharedKey, key } = nodes;
  const [tokens, shared, own] = [query.rows, sharedKey.columns, key.columns / headCount];
  const dim = value.columns / headCount;
  const out = nodeOf(tokens, value.columns);
  const all = Array.from({ length: headCount }, (_, head) => attentionWeights(nodes, head, own, shared));
  const at = (t: number, head: number) => t * value.columns + head * dim;
  all.forEach((weights, head) => {
    for (let t = 0; t < tokens; t++) {
      for (let s = 0; s <= t; s++) {
        for (let d = 0; d < dim; d++) {
          out.values[at(t, head) + d] += weights[t * tokens + s] * value.values[at(s, head) + d];
        }
      }
    }
  });
  tape.record(() => {
    const byScore = new Float64Array(tokens);
    all.forEach((weights, head) => {
      for (let t = 0; t < tokens; t++) {
        let mean = 0;
        for (let s = 0; s <= t; s++) {
          const weight = weights[t * tokens + s];
          byScore[s] = 0;
          for (let d = 0; d < dim; d++) {
            const g = out.grads[at(t, head) + d];
            byScore[s] += g * value.values[at(s, head) + d];
            value.grads[at(s, head) + d] += g * weight;
          }
          mean += weight * byScore[s];
        }
        for (let s = 0; s <= t; s++) byScore[s] = weights[t * tokens + s] * (byScore[s] - mean);
        scoresBack(nodes, head, t, byScore, own, shared);
      }
    });
  });
  return out;
}
