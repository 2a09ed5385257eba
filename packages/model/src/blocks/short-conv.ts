/**
 * The short causal convolution before queries, keys and values: each channel mixes its own last few tokens.
 * What a later call needs of earlier tokens is the history, of fixed size [(taps - 1) x channels].
 */

/** SiLU: x sigmoid(x). */
export function silu(x: number): number {
  return x / (1 + Math.exp(-x));
}

/**
 * SiLU of the convolution of x [tokens x channels] with taps [channels x size], the last tap on the token itself.
 * `history` [(size - 1) x channels] holds the tokens before x, oldest first, and is moved on to the end of x.
 */
export function shortConv(
  x: Float32Array,
  channels: number,
  taps: Float32Array,
  history: Float32Array,
): Float32Array {
  const size = taps.length / channels;
  const tokens = x.length / channels;
  if (history.length !== (size - 1) * channels || !Number.isInteger(tokens)) {
    throw new RangeError(
      `convolution of [${tokens} x ${channels}] with ${size} taps: history has ${history.length} elements`,
    );
  }
  const seen = new Float32Array(history.length + x.length);
  seen.set(history);
  seen.set(x, history.length);
  const out = new Float32Array(x.length);
  for (let token = 0; token < tokens; token++) {
    for (let channel = 0; channel < channels; channel++) {
      let sum = 0;
      for (let tap = 0; tap < size; tap++)
        sum += taps[channel * size + tap] * seen[(token + tap) * channels + channel];
      out[token * channels + channel] = silu(sum);
    }
  }
  history.set(seen.subarray(x.length));
  return out;
}
