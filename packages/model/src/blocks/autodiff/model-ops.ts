/**
 * Depth mixing, the experts' weighted sum, and the loss, on a tape.
 */
import { softmaxInPlace } from '../linear.js';
import { NORM_EPS } from '../rms-norm.js';
import { type Node, nodeOf, type Tape } from './tape.js';

/** The mixture over depth of sources [tokens x hidden] with a query and a gain, [1 x hidden] each. */
export function depthMixOp(tape: Tape, sources: readonly Node[], query: Node, gain: Node): Node {
  const [{ rows: tokens, columns: hidden }, count] = [sources[0], sources.length];
  const out = nodeOf(tokens, hidden);
  const inverse = new Float64Array(tokens * count);
  const dots = new Float64Array(tokens * count);
  const weights = new Float64Array(tokens * count);
  for (let t = 0; t < tokens; t++) {
    sources.forEach((source, s) => {
      let squares = 0;
      for (let i = 0; i < hidden; i++) {
        const x = source.values[t * hidden + i];
        squares += x * x;
        dots[t * count + s] += query.values[i] * gain.values[i] * x;
      }
      inverse[t * count + s] = 1 / Math.sqrt(squares / hidden + NORM_EPS);
      weights[t * count + s] = dots[t * count + s] * inverse[t * count + s];
    });
    softmaxInPlace(weights.subarray(t * count, (t + 1) * count));
    sources.forEach((source, s) => {
      for (let i = 0; i < hidden; i++) {
        out.values[t * hidden + i] += weights[t * count + s] * source.values[t * hidden + i];
      }
    });
  }
  tape.record(() => {
    const byWeight = new Float64Array(count);
    for (let t = 0; t < tokens; t++) {
      let mean = 0;
      sources.forEach((source, s) => {
        byWeight[s] = 0;
        for (let i = 0; i < hidden; i++)
          byWeight[s] += out.grads[t * hidden + i] * source.values[t * hidden + i];
        mean += weights[t * count + s] * byWeight[s];
      });
      sources.forEach((source, s) => {
        const at = t * count + s;
        const byLogit = weights[at] * (byWeight[s] - mean);
        const pull = (byLogit * dots[at] * inverse[at] ** 3) / hidden;
        for (let i = 0; i < hidden; i++) {
          const x = source.values[t * hidden + i];
          const push = byLogit * inverse[at];
          source.grads[t * hidden + i] +=
            weights[at] * out.grads[t * hidden + i] + push * query.values[i] * gain.values[i] - pull * x;
          query.grads[i] += push * gain.values[i] * x;
          gain.grads[i] += push * query.values[i] * x;
        }
      });
    }
  });
  return out;
}

/** Gate weights [tokens x topK]: chosen scores over their sum plus 1e-20, times `scaling`. */
export function gateWeightsOp(
  tape: Tape,
  scores: Node,
  experts: Int32Array,
  topK: number,
  scaling: number,
): Node {
  const out = nodeOf(scores.rows, topK);
  const totals = new Float64Array(scores.rows).fill(1e-20);
  const at = (choice: number) => Math.floor(choice / topK) * scores.columns + experts[choice];
  for (let choice = 0; choice < experts.length; choice++)
    totals[Math.floor(choice / topK)] += scores.values[at(choice)];
  for (let choice = 0; choice < experts.length; choice++) {
    out.values[choice] = (scaling * scores.values[at(choice)]) / totals[Math.floor(choice / topK)];
  }
  tape.record(() => {
    for (let t = 0; t < scores.rows; t++) {
      let mean = 0;
      for (let c = t * topK; c < (t + 1) * topK; c++) mean += out.grads[c] * out.values[c];
      for (let c = t * topK; c < (t + 1) * topK; c++) {
        scores.grads[at(c)] += (scaling * out.grads[c] - mean) / totals[t];
      }
    }
  });
  return out;
}

/** One expert's outputs, a row for each of `choices` (positions in the gate weights). */
export interface ExpertRows {
  readonly output: Node;
  readonly choices: readonly number[];
}

/** Sum over a token's choices of gate weight times the expert's row, [tokens x width]. */
export function combineOp(tape: Tape, parts: readonly ExpertRows[], gates: Node, width: number): Node {
  const out = nodeOf(gates.rows, width);
  const each = (visit: (row: number, from: number, to: number, choice: number) => void) => {
    parts.forEach(({ choices }, part) => {
      choices.forEach((choice, row) => {
        visit(part, row * width, Math.floor(choice / gates.columns) * width, choice);
      });
    });
  };
  each((part, from, to, choice) => {
    for (let i = 0; i < width; i++)
      out.values[to + i] += gates.values[choice] * parts[part].output.values[from + i];
  });
  tape.record(() => {
    each((part, from, to, choice) => {
      const { values, grads } = parts[part].output;
      for (let i = 0; i < width; i++) {
        gates.grads[choice] += out.grads[to + i] * values[from + i];
        grads[from + i] += out.grads[to + i] * gates.values[choice];
      }
    });
  });
  return out;
}

/** Mean over rows of -log softmax(logits)[target], [1 x 1], in nats. */
export function crossEntropyOp(tape: Tape, logits: Node, targets: ArrayLike<number>): Node {
  const { rows, columns } = logits;
  const probabilities = logits.values.slice();
  const out = nodeOf(1, 1);
  for (let r = 0; r < rows; r++) {
    const row = probabilities.subarray(r * columns, (r + 1) * columns);
    softmaxInPlace(row);
    out.values[0] -= Math.log(row[targets[r]]) / rows;
  }
  tape.record(() => {
    for (let i = 0; i < probabilities.length; i++) {
      const hit = targets[Math.floor(i / columns)] === i % columns ? 1 : 0;
      logits.grads[i] += (out.grads[0] * (probabilities[i] - hit)) / rows;
    }
  });
  return out;
}
