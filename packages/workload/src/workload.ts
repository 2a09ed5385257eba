/**
 * What a workload is: something that gives the tokens of any step and layer, and can say in sentences what it is.
 * One file a kind; the registry is in kinds.ts. Knows no routing policy, no placement and no file system:
 * whoever creates a workload hands in a function that reads.
 */
import type { TokenBatch } from '@epsim/spec';
import type { z } from 'zod';

export interface WorkloadContext {
  readonly seed: number;
  readonly rankCount: number;
  readonly tokensPerRank: number;
  readonly expertCount: number;
  readonly topK: number;
  /** Layers of experts that are asked for: batch() takes layers 0 .. layers - 1. */
  readonly layers: number;
  /** Name of the scenario's model; when given, a trace that names another model is refused. */
  readonly modelName?: string;
  /** The bytes of a file that options name; given by the command line, which resolves paths. */
  readonly readFile?: (path: string) => Uint8Array;
}

export interface Workload {
  /**
   * The tokens of one layer of one step. Any order, any number of times, the same values.
   * Throws RangeError for a layer or step that is not a whole number in range.
   */
  batch(step: number, layer: number): TokenBatch;
  /** Sentences about what it is, fitted values included. */
  readonly description: readonly string[];
}

export interface WorkloadKind {
  readonly summary: string;
  readonly options: z.ZodType;
  /** Throws RangeError, and a zod error for options that `options` would refuse. */
  create(context: WorkloadContext, options: unknown): Workload;
}

/** Throws RangeError, with the values, when the numbers of a context cannot be a workload. */
export function checkContext(context: WorkloadContext): void {
  const { rankCount, tokensPerRank, expertCount, topK, layers } = context;
  for (const [name, value] of Object.entries({ rankCount, tokensPerRank, expertCount, topK, layers })) {
    if (!Number.isInteger(value) || value < 1) {
      throw new RangeError(`workload: ${name} must be a whole number of at least 1, not ${value}`);
    }
  }
  if (topK > expertCount) {
    throw new RangeError(`workload: top-${topK} of ${expertCount} experts; topK must not exceed expertCount`);
  }
}

/** Throws RangeError unless step and layer are whole numbers and the layer is one of `layers`. */
export function checkPlace(step: number, layer: number, layers: number): void {
  if (!Number.isInteger(step) || step < 0) throw new RangeError(`workload: step ${step} is no step`);
  if (!Number.isInteger(layer) || layer < 0 || layer >= layers) {
    throw new RangeError(`workload: layer ${layer} of a workload with layers 0 to ${layers - 1}`);
  }
}

/** Row offsets of ranks that all have the same number of tokens, [rankCount + 1]. */
export function evenOffsets(rankCount: number, tokensPerRank: number): Int32Array {
  return Int32Array.from({ length: rankCount + 1 }, (_, rank) => rank * tokensPerRank);
}

/** Throws RangeError, with both sizes, when `out` cannot take [tokens x width] values; gives the tokens. */
export function roomFor(offsets: Int32Array, rank: number, width: number, out: ArrayLike<number>): number {
  if (!Number.isInteger(rank) || rank < 0 || rank >= offsets.length - 1) {
    throw new RangeError(`workload: rank ${rank} of a batch with ${offsets.length - 1} ranks`);
  }
  const tokens = offsets[rank + 1] - offsets[rank];
  if (out.length < tokens * width) {
    throw new RangeError(
      `workload: out has ${out.length} elements, rank ${rank} needs [${tokens} x ${width}]`,
    );
  }
  return tokens;
}
