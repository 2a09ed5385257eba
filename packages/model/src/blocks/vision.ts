/**
 * The vision path: patches of an image, or of a few frames of a video, become tokens of the language model's width.
 *   patches -> linear + positions -> encoder layers -> mean over frames, 2 x 2 merge -> projector -> rows for the stream
 * Its one idea: after the projector an image token is a row like any other, so that one causal stack reads both.
 * Modelled on MoonViT-V2 as NeMo Automodel's kimi_k3 has it: RMSNorm, no biases, full attention over all patches of
 * all frames with two-dimensional rotary positions, GELU in its tanh form inside the encoder and exact in the projector.
 * A longer video is several samples of at most four frames. Knows nothing about pixels' meaning.
 */
import type { VisionShape } from '@epsim/spec';
import { addTo, linear, softmaxInPlace } from './linear.js';
import { rmsNorm } from './rms-norm.js';
import { rotate2d } from './rotary-2d.js';

export interface VisionLayerWeights {
  readonly attentionNorm: Float32Array;
  /** [hidden x heads * dim] each */
  readonly query: Float32Array;
  readonly key: Float32Array;
  readonly value: Float32Array;
  /** [heads * dim x hidden] */
  readonly out: Float32Array;
  readonly mlpNorm: Float32Array;
  /** [hidden x inner], [inner x hidden] */
  readonly up: Float32Array;
  readonly down: Float32Array;
}

export interface VisionWeights {
  /** [3 * patchSize^2 x hidden] */
  readonly patch: Float32Array;
  /** [grid x grid x hidden] */
  readonly positions: Float32Array;
  readonly layers: readonly VisionLayerWeights[];
  readonly norm: Float32Array;
  /** [mergeSize^2 * hidden x projectorInner], [projectorInner x model width], [model width] */
  readonly projectorIn: Float32Array;
  readonly projectorOut: Float32Array;
  readonly projectorNorm: Float32Array;
}

/** Frames that are read together and become one set of tokens. */
const MOST_FRAMES = 4;

/** An image or frames as patches, frame by frame and row by row, [frames * rows * columns x 3 * patchSize^2]. */
export interface PatchGrid {
  readonly frames: number;
  readonly rows: number;
  readonly columns: number;
  readonly patches: Float32Array;
}

/** GELU in its tanh form. */
export function gelu(x: number): number {
  return 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));
}

/**
 * GELU as x times the normal distribution function. Its error function is summed in a series whose terms all have one
 * sign, so nothing cancels: erf(z) = 2 / sqrt(pi) e^(-z^2) sum of 2^n z^(2n+1) / (1 * 3 * ... * (2n + 1)).
 */
export function geluExact(x: number): number {
  const z = Math.abs(x) / Math.SQRT2;
  if (z > 6) return Math.max(0, x);
  let term = z;
  let sum = term;
  for (let n = 1; term > 1e-17 * sum; n++) {
    term *= (2 * z * z) / (2 * n + 1);
    sum += term;
  }
  const erf = (2 / Math.sqrt(Math.PI)) * Math.exp(-z * z) * sum;
  return 0.5 * x * (1 + Math.sign(x) * erf);
}

/** Fixed positions of frames in time, [frames x hidden]: sines of all frequencies, then their cosines. */
export function framePositions(frames: number, hidden: number): Float32Array {
  const half = hidden / 2;
  return Float32Array.from({ length: frames * hidden }, (_, i) => {
    const place = i % hidden;
    const angle = Math.floor(i / hidden) * 10_000 ** (-(place % half) / half);
    return place < half ? Math.sin(angle) : Math.cos(angle);
  });
}

/** Mean over frames, place by place: [frames * places x hidden] to [places x hidden]. */
export function poolFrames(x: Float32Array, frames: number): Float32Array {
  const size = x.length / frames;
  return Float32Array.from({ length: size }, (_, i) => {
    let sum = 0;
    for (let frame = 0; frame < frames; frame++) sum += x[frame * size + i];
    return sum / frames;
  });
}

/** Learned positions [side x side x hidden] stretched bilinearly to [rows x columns x hidden]. */
export function stretchPositions(
  table: Float32Array,
  side: number,
  hidden: number,
  rows: number,
  columns: number,
): Float32Array {
  const out = new Float32Array(rows * columns * hidden);
  const place = (i: number, count: number) =>
    Math.min(side - 1, Math.max(0, ((i + 0.5) * side) / count - 0.5));
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++) {
      const [y, x] = [place(r, rows), place(c, columns)];
      const [y0, x0] = [Math.floor(y), Math.floor(x)];
      const [y1, x1] = [Math.min(side - 1, y0 + 1), Math.min(side - 1, x0 + 1)];
      for (let i = 0; i < hidden; i++) {
        const at = (row: number, column: number) => table[(row * side + column) * hidden + i];
        const top = at(y0, x0) + (x - x0) * (at(y0, x1) - at(y0, x0));
        const bottom = at(y1, x0) + (x - x0) * (at(y1, x1) - at(y1, x0));
        out[(r * columns + c) * hidden + i] = top + (y - y0) * (bottom - top);
      }
    }
  }
  return out;
}

/** Every patch reads every patch; x [patches x hidden] already normed, returns [patches x hidden]. */
function patchAttention(
  x: Float32Array,
  shape: VisionShape,
  w: VisionLayerWeights,
  { rows, columns }: PatchGrid,
): Float32Array {
  const { hiddenSize, headCount, headDim: dim } = shape;
  const wide = headCount * dim;
  const patches = x.length / hiddenSize;
  const query = rotate2d(linear(x, w.query, hiddenSize, wide), headCount, dim, columns, rows);
  const key = rotate2d(linear(x, w.key, hiddenSize, wide), headCount, dim, columns, rows);
  const value = linear(x, w.value, hiddenSize, wide);
  const read = new Float32Array(patches * wide);
  const scores = new Float64Array(patches);
  for (let p = 0; p < patches; p++) {
    for (let from = 0; from < wide; from += dim) {
      for (let t = 0; t < patches; t++) {
        scores[t] = 0;
        for (let d = from; d < from + dim; d++) scores[t] += query[p * wide + d] * key[t * wide + d];
        scores[t] /= Math.sqrt(dim);
      }
      softmaxInPlace(scores);
      for (let d = from; d < from + dim; d++) {
        let sum = 0;
        for (let t = 0; t < patches; t++) sum += scores[t] * value[t * wide + d];
        read[p * wide + d] = sum;
      }
    }
  }
  return linear(read, w.out, wide, hiddenSize);
}

/** Each square of mergeSize x mergeSize patches side by side: [rows * columns x hidden] to a quarter as many, wider, rows. */
export function mergePatches(
  x: Float32Array,
  hidden: number,
  rows: number,
  columns: number,
  size: number,
): Float32Array {
  if (rows % size !== 0 || columns % size !== 0) {
    throw new RangeError(`a grid of ${rows} x ${columns} patches is not whole squares of ${size} x ${size}`);
  }
  const out = new Float32Array(x.length);
  let to = 0;
  for (let r = 0; r < rows; r += size) {
    for (let c = 0; c < columns; c += size) {
      for (let inSquare = 0; inSquare < size * size; inSquare++) {
        const patch = (r + Math.floor(inSquare / size)) * columns + c + (inSquare % size);
        out.set(x.subarray(patch * hidden, (patch + 1) * hidden), to);
        to += hidden;
      }
    }
  }
  return out;
}

/** Places of every patch: learned in the plane, and fixed in time where there are several frames. */
function positionsOf({ frames, rows, columns }: PatchGrid, shape: VisionShape, w: VisionWeights) {
  const { positionGrid, hiddenSize } = shape;
  const plane = stretchPositions(w.positions, positionGrid, hiddenSize, rows, columns);
  if (frames === 1) return plane;
  const time = framePositions(frames, hiddenSize);
  return Float32Array.from({ length: frames * plane.length }, (_, i) => {
    const frame = Math.floor(i / plane.length);
    return plane[i % plane.length] + time[frame * hiddenSize + (i % hiddenSize)];
  });
}

/** Tokens of an image or of up to four frames, [rows * columns / mergeSize^2 x model width]. Throws RangeError beyond. */
export function visionTokens(image: PatchGrid, shape: VisionShape, w: VisionWeights): Float32Array {
  const { hiddenSize, patchSize, mergeSize, innerSize, projectorInnerSize } = shape;
  const { frames, rows, columns } = image;
  if (!Number.isInteger(frames) || frames < 1 || frames > MOST_FRAMES) {
    throw new RangeError(`${frames} frames at once; 1 to ${MOST_FRAMES} are read together`);
  }
  const x = linear(image.patches, w.patch, 3 * patchSize ** 2, hiddenSize);
  addTo(x, positionsOf(image, shape, w));
  for (const layer of w.layers) {
    addTo(x, patchAttention(rmsNorm(x, layer.attentionNorm), shape, layer, image));
    const inner = linear(rmsNorm(x, layer.mlpNorm), layer.up, hiddenSize, innerSize).map(gelu);
    addTo(x, linear(inner, layer.down, innerSize, hiddenSize));
  }
  const pooled = poolFrames(rmsNorm(x, w.norm), frames);
  const merged = mergePatches(pooled, hiddenSize, rows, columns, mergeSize);
  const wide = linear(merged, w.projectorIn, mergeSize ** 2 * hiddenSize, projectorInnerSize);
  const inner = wide.map(geluExact);
  return rmsNorm(linear(inner, w.projectorOut, projectorInnerSize, w.projectorNorm.length), w.projectorNorm);
}
