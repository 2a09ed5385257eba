/**
 * Element-wise operations and norms on a tape.
 */
import { type Glu, gluAt, sigmoid } from '@epsim/tensor';
import { logDecay, logDecaySlope } from '../log-decay.js';
import { NORM_EPS } from '../rms-norm.js';
import { gluGateDerivative, gluUpDerivative } from '../situ-glu.js';
import { type Node, nodeOf, type Tape } from './tape.js';

export function sigmoidOf(tape: Tape, a: Node): Node {
  const out = nodeOf(a.rows, a.columns, a.values.map(sigmoid));
  tape.record(() => {
    for (let i = 0; i < out.values.length; i++) {
      a.grads[i] += out.grads[i] * out.values[i] * (1 - out.values[i]);
    }
  });
  return out;
}

/** a * sigmoid(gate), element by element. */
export function gated(tape: Tape, a: Node, gate: Node): Node {
  const out = nodeOf(
    a.rows,
    a.columns,
    a.values.map((x, i) => x * sigmoid(gate.values[i])),
  );
  tape.record(() => {
    for (let i = 0; i < out.values.length; i++) {
      const s = sigmoid(gate.values[i]);
      a.grads[i] += out.grads[i] * s;
      gate.grads[i] += out.grads[i] * a.values[i] * s * (1 - s);
    }
  });
  return out;
}

export function gluOp(tape: Tape, glu: Glu, gate: Node, up: Node): Node {
  const out = nodeOf(
    gate.rows,
    gate.columns,
    gate.values.map((g, i) => gluAt(glu, g, up.values[i])),
  );
  tape.record(() => {
    for (let i = 0; i < out.values.length; i++) {
      gate.grads[i] += out.grads[i] * gluGateDerivative(glu, gate.values[i], up.values[i]);
      up.grads[i] += out.grads[i] * gluUpDerivative(glu, gate.values[i], up.values[i]);
    }
  });
  return out;
}

/**
 * Groups of `wide` elements divided by sqrt(sum of squares * perElement + eps), times `factor`.
 * perElement 1 / wide is a root mean square, 1 a length.
 */
function normalized(
  tape: Tape,
  a: Node,
  wide: number,
  perElement: number,
  eps: number,
  factor: number,
): Node {
  const out = nodeOf(a.rows, a.columns);
  const inverse = new Float64Array(a.values.length / wide);
  for (let group = 0; group < inverse.length; group++) {
    let squares = 0;
    for (let i = group * wide; i < (group + 1) * wide; i++) squares += a.values[i] ** 2;
    inverse[group] = 1 / Math.sqrt(squares * perElement + eps);
    for (let i = group * wide; i < (group + 1) * wide; i++) {
      out.values[i] = a.values[i] * inverse[group] * factor;
    }
  }
  tape.record(() => {
    for (let group = 0; group < inverse.length; group++) {
      let dot = 0;
      for (let i = group * wide; i < (group + 1) * wide; i++) dot += out.grads[i] * a.values[i];
      const pull = factor * dot * perElement * inverse[group] ** 3;
      for (let i = group * wide; i < (group + 1) * wide; i++) {
        a.grads[i] += out.grads[i] * factor * inverse[group] - pull * a.values[i];
      }
    }
  });
  return out;
}

/** Groups of gain.columns elements divided by their root mean square, times the gain. */
export function rmsNormOp(tape: Tape, a: Node, gain: Node): Node {
  const wide = gain.columns;
  const unit = normalized(tape, a, wide, 1 / wide, NORM_EPS, 1);
  const out = nodeOf(
    a.rows,
    a.columns,
    unit.values.map((x, i) => x * gain.values[i % wide]),
  );
  tape.record(() => {
    for (let i = 0; i < out.values.length; i++) {
      unit.grads[i] += out.grads[i] * gain.values[i % wide];
      gain.grads[i % wide] += out.grads[i] * unit.values[i];
    }
  });
  return out;
}

/** Groups of `dim` elements to length `factor` (eps 1e-6 under the root). */
export function unitRowsOp(tape: Tape, a: Node, dim: number, factor: number): Node {
  return normalized(tape, a, dim, 1, 1e-6, factor);
}

/** Log decays [tokens x heads * dim] of pre-activations z, with each head's rate and each channel's shift. */
export function logDecayOp(tape: Tape, z: Node, decayLog: Node, shift: Node, bound: number | null): Node {
  const inner = z.columns;
  const dim = inner / decayLog.columns;
  const rateOf = (i: number) => Math.floor((i % inner) / dim);
  const shifted = (i: number) => z.values[i] + shift.values[i % inner];
  const out = nodeOf(
    z.rows,
    inner,
    z.values.map((_, i) => logDecay(shifted(i), decayLog.values[rateOf(i)], bound)),
  );
  tape.record(() => {
    for (let i = 0; i < out.values.length; i++) {
      const slope = out.grads[i] * logDecaySlope(shifted(i), decayLog.values[rateOf(i)], bound);
      z.grads[i] += slope;
      shift.grads[i % inner] += slope;
      // The rate multiplies: by the log of it, the bounded form changes as z d/dz, the open form as itself.
      decayLog.grads[rateOf(i)] += bound === null ? out.grads[i] * out.values[i] : slope * shifted(i);
    }
  });
  return out;
}
