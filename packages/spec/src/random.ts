/**
 * Seeded random numbers, one independent stream per purpose.
 * The one idea: a stream is named, not shared. `randomSource(seed, 'router', layer, rank)` gives the same
 * numbers whoever asks, in whatever order, on whatever thread, so results do not depend on scheduling.
 * Only integer arithmetic, + - * / and sqrt are used, which ECMAScript defines to the last bit; Math.log,
 * exp, cos and pow may differ between engines, so the normal deviate brings its own.
 * Knows nothing of what the numbers are for, and is not fit for secrets.
 */

export interface RandomSource {
  /** A whole number from 0 to 2^32 - 1. */
  uint32(): number;
  /** A multiple of 2^-32 in [0, 1). */
  uniform(): number;
  /** A standard normal deviate; 98.8 % of them take one uint32, the rest a few more. */
  normal(): number;
}

/**
 * The seed of a named purpose, a whole number from 0 to 2^53 - 1, itself usable as `seed` again.
 * Labels are tagged with type and length: ('ab', 'c') differs from ('a', 'bc'), and 1 from '1'.
 * The mixing rounds are those of MurmurHash3 (Appleby, public domain) on two 32-bit lanes; 53 bits keep the
 * chance of two equal seeds among a million streams below 1e-4.
 * Throws RangeError when the seed or a numeric label is not a safe integer.
 */
export function seedFor(seed: number, ...labels: readonly (string | number)[]): number {
  const lanes: Lanes = { a: 0x9747b28c, b: 0x3c6ef372 };
  absorbInteger(lanes, seed);
  for (const label of labels) {
    if (typeof label === 'number') absorbInteger(lanes, label);
    else absorbText(lanes, label);
  }
  const a = finalMix(lanes.a ^ Math.imul(lanes.b, 0x85ebca6b));
  const b = finalMix(lanes.b + a);
  return (b >>> 11) * 2 ** 32 + a;
}

/**
 * The stream of a named purpose: xoshiro128** (Blackman and Vigna, public domain), period 2^128 - 1.
 * Allocates once; drawing does not allocate. Throws RangeError as `seedFor` does.
 */
export function randomSource(seed: number, ...labels: readonly (string | number)[]): RandomSource {
  const start = seedFor(seed, ...labels);
  const low = start >>> 0;
  const high = Math.floor(start / 2 ** 32);
  // A typed array, because closure variables that leave the small-integer range are boxed on every write.
  const state = new Int32Array(4);
  state[0] = finalMix(low ^ 0x9e3779b9);
  state[1] = finalMix(high ^ 0x243f6a88);
  state[2] = finalMix(low + Math.imul(high, 0x85ebca6b));
  // The all-zero state is the one fixed point of the recurrence.
  state[3] = finalMix(high ^ state[2]) | 1;

  const uint32 = (): number => {
    const s0 = state[0];
    const s1 = state[1];
    const s2 = state[2] ^ s0;
    const s3 = state[3] ^ s1;
    const scrambled = Math.imul(s1, 5);
    state[0] = s0 ^ s3;
    state[1] = s1 ^ s2;
    state[2] = s2 ^ (s1 << 9);
    state[3] = (s3 << 11) | (s3 >>> 21);
    return Math.imul((scrambled << 7) | (scrambled >>> 25), 9) >>> 0;
  };
  const normal = (): number => {
    const word = uint32();
    const layer = word & 127;
    const side = (word | 0) >> 7;
    return Math.abs(side) < inside[layer] ? side * step[layer] : normalOutside(layer, side, uint32, normal);
  };
  return { uint32, uniform: () => uint32() * 2 ** -32, normal };
}

interface Lanes {
  a: number;
  b: number;
}

function absorb(lanes: Lanes, word: number): void {
  const first = Math.imul(word, 0xcc9e2d51);
  lanes.a ^= Math.imul((first << 15) | (first >>> 17), 0x1b873593);
  lanes.a = (Math.imul((lanes.a << 13) | (lanes.a >>> 19), 5) + lanes.b + 0x561ccd1b) | 0;
  const second = Math.imul(word, 0x38b34ae5);
  lanes.b ^= Math.imul((second << 16) | (second >>> 16), 0xa1e38b93);
  lanes.b = (Math.imul((lanes.b << 17) | (lanes.b >>> 15), 5) + lanes.a + 0x0bcaa747) | 0;
}

function absorbInteger(lanes: Lanes, value: number): void {
  if (!Number.isSafeInteger(value)) {
    throw new RangeError(`random: a seed or label must be a safe integer or text, not ${value}`);
  }
  absorb(lanes, 0x6e756d62);
  absorb(lanes, value | 0);
  absorb(lanes, Math.floor(value / 2 ** 32) | 0);
}

function absorbText(lanes: Lanes, text: string): void {
  absorb(lanes, 0x74657874);
  absorb(lanes, text.length);
  for (let i = 0; i < text.length; i++) absorb(lanes, text.charCodeAt(i));
}

/** MurmurHash3's finaliser: a bijection of 32 bits in which each input bit moves about half of the output. */
function finalMix(word: number): number {
  let h = word | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

// The ziggurat of Marsaglia and Tsang (Journal of Statistical Software 5, 2000): 128 layers of equal area V under
// exp(-x^2 / 2), the outermost starting at R. Layer and position use different bits of the word.
const R = 3.442619855899;
const V = 9.91256303526217e-3;
const HALF = 2 ** 24;
/** Positions below inside[i] lie under the curve whatever their height, [128]. */
const inside = new Int32Array(128);
/** Width of one position, [128]. */
const step = new Float64Array(128);
/** Height of the curve at the layer's right edge, [128]. */
const height = new Float64Array(128);
fillLayers();

function fillLayers(): void {
  let edge = R;
  const base = V / exp(-0.5 * R * R);
  inside[0] = Math.floor((R / base) * HALF);
  step[0] = base / HALF;
  height[0] = 1;
  step[127] = R / HALF;
  height[127] = exp(-0.5 * R * R);
  for (let i = 126; i >= 1; i--) {
    const next = Math.sqrt(-2 * log(V / edge + exp(-0.5 * edge * edge)));
    inside[i + 1] = Math.floor((next / edge) * HALF);
    step[i] = next / HALF;
    height[i] = exp(-0.5 * next * next);
    edge = next;
  }
}

/** The 1.2 % that fall into a layer's wedge or into the tail beyond R. */
function normalOutside(layer: number, side: number, uint32: () => number, again: () => number): number {
  const uniform = () => (uint32() + 0.5) * 2 ** -32;
  if (layer === 0) {
    let x: number;
    let y: number;
    do {
      x = -log(uniform()) / R;
      y = -log(uniform());
    } while (y + y < x * x);
    return side < 0 ? -R - x : R + x;
  }
  const x = side * step[layer];
  const y = height[layer] + uniform() * (height[layer - 1] - height[layer]);
  return y < exp(-0.5 * x * x) ? x : again();
}

/** Natural logarithm of x > 0 within 1e-15: the power of two apart, then 2 artanh((m - 1) / (m + 1)). */
function log(x: number): number {
  let m = x;
  let exponent = 0;
  for (; m < Math.SQRT1_2; exponent--) m *= 2;
  for (; m > Math.SQRT2; exponent++) m /= 2;
  const t = (m - 1) / (m + 1);
  let series = 0;
  for (let k = 21; k >= 1; k -= 2) series = series * t * t + 1 / k;
  return exponent * Math.LN2 + 2 * t * series;
}

/** e^x for -40 <= x <= 0 within 1e-14: the Taylor series at x / 64, then six squarings. */
function exp(x: number): number {
  const t = x / 64;
  let value = 1;
  for (let k = 14; k >= 1; k--) value = 1 + (t / k) * value;
  for (let i = 0; i < 6; i++) value *= value;
  return value;
}
