/**
 * RMSNorm: each row divided by its root mean square, times a learned gain. Kimi K3 uses eps 1e-5 throughout.
 */
import { rmsNormNaive } from '@epsim/tensor';

export const NORM_EPS = 1e-5;

/** Rows of gain.length; returns an array of the same size. Throws RangeError on a partial row. */
export function rmsNorm(x: Float32Array, gain: Float32Array, eps = NORM_EPS): Float32Array {
  if (x.length % gain.length !== 0) {
    throw new RangeError(`${x.length} elements are not whole rows of ${gain.length}`);
  }
  const out = new Float32Array(x.length);
  rmsNormNaive(x, gain, out, gain.length, eps);
  return out;
}
