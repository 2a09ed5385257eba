/**
 * What a journey begins with: a small picture and a text, as rows of one stream.
 * The picture is drawn here, a moon over a dark sky; weights of the vision path are seeded normals, as untrained
 * as the rest.
 */
import {
  embedTokens,
  encodeText,
  type K3Model,
  type VisionLayerWeights,
  type VisionWeights,
  visionTokens,
} from '@epsim/model';
import { type ModelShape, randomSource, type VisionShape } from '@epsim/spec';

export interface Stream {
  /** [tokens x hidden] */
  readonly rows: Float32Array;
  readonly labels: readonly { readonly kind: 'image' | 'text'; readonly label: string }[];
  readonly picture: { readonly side: number; readonly pixels: Float32Array } | null;
}

/** Patches a side of the picture. */
const GRID = 4;

/** A disc with a shadow, grey values 0 to 1, [side x side]. */
function moon(side: number): Float32Array {
  return Float32Array.from({ length: side * side }, (_, i) => {
    const x = ((i % side) + 0.5) / side - 0.52;
    const y = (Math.floor(i / side) + 0.5) / side - 0.46;
    const lit = Math.min(1, Math.max(0, (0.36 - Math.hypot(x, y)) * 14));
    const shadow = Math.min(1, Math.max(0, (0.34 - Math.hypot(x - 0.2, y + 0.08)) * 9));
    const sky = 0.06 + (0.1 * Math.floor(i / side)) / side;
    return sky + (0.94 - sky) * lit * (1 - 0.8 * shadow);
  });
}

/** Patches in reading order, three equal channels each, grey 0..1 moved to -1..1. */
function patchesOf(pixels: Float32Array, side: number, patch: number): Float32Array {
  const perSide = side / patch;
  const out = new Float32Array(perSide * perSide * 3 * patch * patch);
  let at = 0;
  for (let p = 0; p < perSide * perSide; p++) {
    for (let channel = 0; channel < 3; channel++) {
      for (let i = 0; i < patch * patch; i++) {
        const y = Math.floor(p / perSide) * patch + Math.floor(i / patch);
        out[at++] = 2 * pixels[y * side + (p % perSide) * patch + (i % patch)] - 1;
      }
    }
  }
  return out;
}

function visionWeights(vision: VisionShape, hidden: number, seed: number): VisionWeights {
  const { patchSize, hiddenSize: own, positionGrid, mergeSize, innerSize, projectorInnerSize } = vision;
  const wide = vision.headCount * vision.headDim;
  const normals = (name: string, count: number, size: number) => {
    const random = randomSource(seed, 'vision', name);
    return new Float32Array(count).map(() => size * random.normal());
  };
  const matrix = (name: string, rows: number, columns: number) => normals(name, rows * columns, rows ** -0.5);
  const ones = (count: number) => new Float32Array(count).fill(1);
  const layer = (index: number): VisionLayerWeights => ({
    attentionNorm: ones(own),
    query: matrix(`${index}.query`, own, wide),
    key: matrix(`${index}.key`, own, wide),
    value: matrix(`${index}.value`, own, wide),
    out: matrix(`${index}.out`, wide, own),
    mlpNorm: ones(own),
    up: matrix(`${index}.up`, own, innerSize),
    down: matrix(`${index}.down`, innerSize, own),
  });
  return {
    patch: matrix('patch', 3 * patchSize ** 2, own),
    positions: normals('positions', positionGrid ** 2 * own, 0.1),
    layers: Array.from({ length: vision.layerCount }, (_, index) => layer(index)),
    norm: ones(own),
    projectorIn: matrix('projectorIn', mergeSize ** 2 * own, projectorInnerSize),
    projectorOut: matrix('projectorOut', projectorInnerSize, hidden),
    projectorNorm: ones(hidden),
  };
}

/** Longest text: every token's state stands in the trace and every row on the page. */
const MOST_CHARACTERS = 256;

/**
 * Where the followed token stands in the stream; null follows the last one.
 * Throws RangeError for a text that is too long or not ASCII, and for a token beyond the stream.
 */
export function focusOf(shape: ModelShape, text: string, token: number | null): number {
  if (text.length > MOST_CHARACTERS) {
    throw new RangeError(`a text of ${text.length} characters; at most ${MOST_CHARACTERS}`);
  }
  const patches = shape.vision === null ? 0 : (GRID / shape.vision.mergeSize) ** 2;
  const length = patches + encodeText(text).length;
  const focus = token ?? length - 1;
  if (!(focus >= 0 && focus < length)) {
    throw new RangeError(`token ${focus} is not in a stream of ${length}`);
  }
  return focus;
}

/** The picture's tokens, then the text's, one causal stream. */
export function streamOf(model: K3Model, text: string, seed: number): Stream {
  const { shape } = model;
  const words = embedTokens(model, encodeText(text));
  const labels = [...text].map((letter) => ({ kind: 'text' as const, label: letter }));
  if (shape.vision === null) return { rows: words, labels, picture: null };
  const { patchSize, mergeSize } = shape.vision;
  const side = GRID * patchSize;
  const pixels = moon(side);
  const image = visionTokens(
    { frames: 1, rows: GRID, columns: GRID, patches: patchesOf(pixels, side, patchSize) },
    shape.vision,
    visionWeights(shape.vision, shape.hiddenSize, seed),
  );
  const count = (GRID / mergeSize) ** 2;
  const rows = new Float32Array(image.length + words.length);
  rows.set(image);
  rows.set(words, image.length);
  return {
    rows,
    labels: [
      ...Array.from({ length: count }, (_, i) => ({ kind: 'image' as const, label: `patch ${i + 1}` })),
      ...labels,
    ],
    picture: { side, pixels },
  };
}

/** Largest model that a journey runs: plain loops, every weight in memory. */
const MOST_EXPERT_WEIGHTS = 2e7;

/** Why this model cannot be travelled through, or null when it can. */
export function journeyRefusal(shape: ModelShape): string | null {
  const { moe } = shape;
  const layers = shape.layers.filter((layer) => layer.ffn?.kind === 'moe').length;
  const weights = layers * moe.expertCount * moe.expertInnerSize * moe.expertWidth * 3;
  if (weights > MOST_EXPERT_WEIGHTS) {
    return `${(weights / 1e6).toFixed(0)} M weights of experts; a journey runs every block in plain loops and takes at most ${MOST_EXPERT_WEIGHTS / 1e6} M`;
  }
  const first = (kind: 'kda' | 'mla') => shape.layers.findIndex((layer) => layer.attention?.kind === kind);
  if (first('kda') < 0 || first('mla') < 0 || shape.attnResBlockLayers === null) {
    return 'a journey needs delta attention, latent attention and attention residuals';
  }
  if (shape.vocabSize !== 96)
    return `a vocabulary of ${shape.vocabSize}; a journey's words are 96 characters`;
  return null;
}
