/**
 * Block attention residuals: what a layer reads is a learned mixture over depth, not one running sum.
 *   sources = summaries of earlier blocks, then the running sum of the current one
 *   a = softmax over sources of (query * gain) . source / rms(source);  h = sum of a * source
 * Its one idea: keys are normalised and values are raw, so a source is chosen by direction and read at its own
 * size. A block's running sum starts anew every `blockLayers` layers; the ordinary residual is gone.
 * Formula: flash-linear-attention's attnres/naive and NeMo Automodel's kimi_k3.
 */
import { addTo, rowCount, softmaxInPlace } from './linear.js';
import { NORM_EPS } from './rms-norm.js';

export interface DepthQuery {
  /** [hidden] */
  readonly query: Float32Array;
  /** Gain of the norm on keys, [hidden]. */
  readonly gain: Float32Array;
}

/** The mixture for each token [tokens x hidden], and the weights [tokens x sources], each row summing to one. */
export interface DepthMix {
  readonly mixed: Float32Array;
  readonly weights: Float32Array;
}

/** (query * gain) . source / rms(source) for one token's row of one source. */
function depthLogit(source: Float32Array, from: number, depth: DepthQuery): number {
  const hidden = depth.query.length;
  let dot = 0;
  let squares = 0;
  for (let i = 0; i < hidden; i++) {
    const value = source[from + i];
    dot += depth.query[i] * depth.gain[i] * value;
    squares += value * value;
  }
  return dot / Math.sqrt(squares / hidden + NORM_EPS);
}

/** Mixes `sources`, each [tokens x hidden], token by token. Throws RangeError without sources or with unequal ones. */
export function mixDepth(sources: readonly Float32Array[], depth: DepthQuery): DepthMix {
  const hidden = depth.query.length;
  if (sources.length === 0 || sources.some((source) => source.length !== sources[0].length)) {
    throw new RangeError(
      `depth mix: sources of ${sources.map((source) => source.length).join(', ') || 'none'} elements`,
    );
  }
  const tokens = rowCount(sources[0], hidden);
  const mixed = new Float32Array(tokens * hidden);
  const weights = new Float32Array(tokens * sources.length);
  const scores = new Float64Array(sources.length);
  for (let token = 0; token < tokens; token++) {
    sources.forEach((source, s) => {
      scores[s] = depthLogit(source, token * hidden, depth);
    });
    softmaxInPlace(scores);
    weights.set(scores, token * sources.length);
    for (let i = 0; i < hidden; i++) {
      let sum = 0;
      for (let s = 0; s < sources.length; s++) sum += scores[s] * sources[s][token * hidden + i];
      mixed[token * hidden + i] = sum;
    }
  }
  return { mixed, weights };
}

/** The depth-wise state of a pass over the layers: finished blocks and the running sum of the current one. */
export interface DepthState {
  readonly blocks: Float32Array[];
  partial: Float32Array | null;
}

export function depthState(embedding: Float32Array): DepthState {
  return { blocks: [], partial: embedding };
}

/** Everything that a query can read now. */
export function depthSources(state: DepthState): readonly Float32Array[] {
  return state.partial === null ? state.blocks : [...state.blocks, state.partial];
}

/** Before a layer's mixer runs: at every `blockLayers`-th layer the running sum becomes a block of its own. */
export function closeBlock(state: DepthState, layer: number, blockLayers: number): void {
  if (layer % blockLayers !== 0 || state.partial === null) return;
  state.blocks.push(state.partial);
  state.partial = null;
}

/** Adds a sublayer's output [tokens x hidden] to the running sum. */
export function addSublayer(state: DepthState, output: Float32Array): void {
  state.partial = state.partial === null ? output.slice() : addTo(state.partial.slice(), output);
}

/** Block summaries that a token carries through a stack of `layerCount` layers (K3: 93 by 12 give 8). */
export function blockCount(layerCount: number, blockLayers: number): number {
  return Math.ceil(layerCount / blockLayers);
}
