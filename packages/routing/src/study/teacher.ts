/**
 * What the small model has to learn: tokens of several kinds, each kind with a function of its own.
 * Kinds are not equally common, as topics are not, so an even share of tokens is not what the data asks for.
 * Knows nothing about experts or routers.
 */
import { type RandomSource, randomSource } from '@epsim/spec';

export interface TeacherShape {
  readonly seed: number;
  readonly width: number;
  readonly outWidth: number;
  /** Kinds of tokens. */
  readonly kinds: number;
  /** Kind i is as common as (i + 1)^-kindSkew; 0 makes all equal. */
  readonly kindSkew: number;
}

/** Inputs and targets of a batch, [tokens x width] and [tokens x outWidth]. */
export interface StudyBatch {
  readonly tokens: number;
  readonly inputs: Float64Array;
  readonly targets: Float64Array;
}

export interface Teacher {
  /** The batch called `name`: the same every time, another for another name. */
  batch(name: string | number, tokens: number): StudyBatch;
}

const CENTRE_SCALE = 1;
const SPREAD = 0.5;

/**
 * A teacher from its seed. A token is the centre of its kind plus noise of half the size; its target is
 * tanh(A x) with the kind's own matrix, of unit order in every output.
 */
export function createTeacher({ seed, width, outWidth, kinds, kindSkew }: TeacherShape): Teacher {
  const source = randomSource(seed, 'study teacher');
  const centres = normals(source, kinds * width, CENTRE_SCALE);
  const matrices = normals(source, kinds * outWidth * width, 1 / Math.sqrt(width));
  const cumulative = cumulativeShares(kinds, kindSkew);
  return {
    batch(name, tokens) {
      const stream = randomSource(seed, 'study batch', name);
      const inputs = new Float64Array(tokens * width);
      const targets = new Float64Array(tokens * outWidth);
      for (let token = 0; token < tokens; token++) {
        const kind = drawKind(cumulative, stream.uniform());
        const x = token * width;
        for (let d = 0; d < width; d++) inputs[x + d] = centres[kind * width + d] + SPREAD * stream.normal();
        for (let o = 0; o < outWidth; o++) {
          const row = (kind * outWidth + o) * width;
          let sum = 0;
          for (let d = 0; d < width; d++) sum += matrices[row + d] * inputs[x + d];
          targets[token * outWidth + o] = Math.tanh(sum);
        }
      }
      return { tokens, inputs, targets };
    },
  };
}

/** `count` normal deviates times `scale`. */
export function normals(source: RandomSource, count: number, scale: number): Float64Array {
  return Float64Array.from({ length: count }, () => scale * source.normal());
}

function cumulativeShares(kinds: number, skew: number): Float64Array {
  const shares = Float64Array.from({ length: kinds }, (_, i) => (i + 1) ** -skew);
  const total = shares.reduce((a, b) => a + b, 0);
  let sum = 0;
  return shares.map((share) => {
    sum += share / total;
    return sum;
  });
}

function drawKind(cumulative: Float64Array, uniform: number): number {
  let kind = 0;
  while (kind < cumulative.length - 1 && uniform >= cumulative[kind]) kind++;
  return kind;
}
