/**
 * A gated feed-forward network: out = activation(x Wgate, x Wup) Wdown.
 * One routed expert, the fused shared experts and a dense layer are all this, at different widths.
 */
import { type Glu, gluNaive } from '@epsim/tensor';
import { linear, rowCount } from './linear.js';

export interface GluNetworkWeights {
  /** [width x inner] */
  readonly gate: Float32Array;
  /** [width x inner] */
  readonly up: Float32Array;
  /** [inner x width] */
  readonly down: Float32Array;
}

/** The network on each row of x [rows x width]; returns [rows x width]. */
export function gluNetwork(
  glu: Glu,
  weights: GluNetworkWeights,
  x: Float32Array,
  width: number,
): Float32Array {
  const inner = weights.down.length / width;
  const gate = linear(x, weights.gate, width, inner);
  const hidden = new Float32Array(rowCount(x, width) * inner);
  gluNaive(glu, gate, linear(x, weights.up, width, inner), hidden);
  return linear(hidden, weights.down, inner, width);
}
