/**
 * How fast a channel of the KDA state forgets: the log of the factor by which one token shrinks it.
 * Its one idea: K3's form is a sigmoid scaled to (bound, 0), not a clamp, so its slope never vanishes abruptly
 * and a run of n tokens decays by at most e^(n bound): dense tiles of a chunk stay inside f32.
 * Kimi-Linear's earlier form has no floor, and a chunk's exponents can overflow (delta-chunk.ts).
 */
import { sigmoid } from '@epsim/tensor';

/**
 * Log decay of one channel from its pre-activation `z` (with its shift added) and its head's `decayLog`:
 * bound * sigmoid(e^decayLog z) in (bound, 0), or -e^decayLog softplus(z) when `bound` is null.
 */
export function logDecay(z: number, decayLog: number, bound: number | null): number {
  const rate = Math.exp(decayLog);
  if (bound !== null) return bound * sigmoid(rate * z);
  return -rate * (Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z))));
}

/** d logDecay / d z. */
export function logDecaySlope(z: number, decayLog: number, bound: number | null): number {
  const rate = Math.exp(decayLog);
  if (bound === null) return -rate * sigmoid(z);
  const s = sigmoid(rate * z);
  return bound * rate * s * (1 - s);
}
