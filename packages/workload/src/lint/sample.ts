/**
 * What lint looks at: the choices of one step's layers, recorded or by plain top-k, row by row.
 * Reads batches; judges nothing.
 */
import { NO_EXPERT, type TokenBatch } from '@epsim/spec';
import { largest } from '../scores/top-k.js';

export interface LayerSample {
  readonly layer: number;
  /** Choices of all ranks' rows, [rows x topK]. */
  readonly choices: Int32Array;
  /** Choices per expert, [expertCount]. */
  readonly loads: Float64Array;
}

/** One step of a workload. Layers of a step have the same rows. */
export interface StepSample {
  readonly step: number;
  readonly topK: number;
  readonly expertCount: number;
  readonly tokenOffsets: Int32Array;
  /** True when the choices were recorded, false when they are those of plain top-k. */
  readonly recorded: boolean;
  readonly layers: readonly LayerSample[];
  /** 1 where a row has a choice in any layer, [rows]. */
  readonly isToken: Uint8Array;
  /** Rows with equal values chose the same experts in every layer, [rows]. */
  readonly signatures: Float64Array;
}

/** Groups batches by step and reads them. Throws RangeError when batches of a step differ in their rows. */
export function sampleSteps(batches: Iterable<TokenBatch>, topK: number): StepSample[] {
  const steps = new Map<number, TokenBatch[]>();
  for (const batch of batches) {
    const known = steps.get(batch.step);
    if (known === undefined) steps.set(batch.step, [batch]);
    else known.push(batch);
  }
  return [...steps].sort(([a], [b]) => a - b).map(([step, group]) => sampleStep(step, group, topK));
}

function sampleStep(step: number, batches: readonly TokenBatch[], topK: number): StepSample {
  const [first] = batches;
  const { tokenOffsets, expertCount } = first;
  const rows = tokenOffsets[tokenOffsets.length - 1];
  const isToken = new Uint8Array(rows);
  const hashes = new Uint32Array(2 * rows);
  const layers = batches.map((batch): LayerSample => {
    const sameRows = batch.tokenOffsets.every((offset, i) => offset === tokenOffsets[i]);
    if (!sameRows || batch.tokenOffsets.length !== tokenOffsets.length || batch.expertCount !== expertCount) {
      throw new RangeError(
        `lint: step ${step}: layers ${first.layer} and ${batch.layer} differ in rows or experts`,
      );
    }
    const choices = choicesOf(batch, topK);
    const loads = new Float64Array(expertCount);
    for (let row = 0; row < rows; row++) {
      for (let k = 0; k < topK; k++) {
        const expert = choices[row * topK + k];
        if (expert !== NO_EXPERT) {
          loads[expert]++;
          isToken[row] = 1;
        }
        mixInto(hashes, row, expert);
      }
    }
    return { layer: batch.layer, choices, loads };
  });
  const signatures = Float64Array.from(
    { length: rows },
    (_, row) => hashes[2 * row] * 2 ** 21 + (hashes[2 * row + 1] >>> 11),
  );
  const recorded = first.readChoices !== undefined;
  return { step, topK, expertCount, tokenOffsets, recorded, layers, isToken, signatures };
}

function choicesOf(batch: TokenBatch, topK: number): Int32Array {
  const { tokenOffsets, expertCount } = batch;
  const ranks = tokenOffsets.length - 1;
  const choices = new Int32Array(tokenOffsets[ranks] * topK);
  const values = new Float64Array(topK);
  for (let rank = 0; rank < ranks; rank++) {
    const tokens = tokenOffsets[rank + 1] - tokenOffsets[rank];
    const own = choices.subarray(tokenOffsets[rank] * topK, tokenOffsets[rank + 1] * topK);
    if (batch.readChoices !== undefined) {
      batch.readChoices(rank, own);
      continue;
    }
    const logits = new Float32Array(tokens * expertCount);
    batch.readLogits(rank, logits);
    for (let token = 0; token < tokens; token++) {
      const row = own.subarray(token * topK, (token + 1) * topK);
      largest(logits, token * expertCount, expertCount, topK, row, values);
    }
  }
  return choices;
}

function mixInto(hashes: Uint32Array, row: number, value: number): void {
  const a = Math.imul(hashes[2 * row] ^ (value + 0x9e3779b9), 0x85ebca6b);
  hashes[2 * row] = a ^ (a >>> 15);
  const b = Math.imul(hashes[2 * row + 1] ^ (value + 0x7f4a7c15), 0xc2b2ae35);
  hashes[2 * row + 1] = b ^ (b >>> 13);
}

/** Decimal digits of the number of sets that a row could choose in all sampled layers. */
export function digitsOfPossibleRows({ expertCount, topK, layers }: StepSample): number {
  let digits = 0;
  for (let i = 0; i < topK; i++) digits += Math.log10((expertCount - i) / (i + 1));
  return digits * layers.length;
}

/** `rank 3, row 17` of a row counted over all ranks. */
export function rowPlace({ tokenOffsets }: StepSample, row: number): string {
  let rank = 0;
  while (tokenOffsets[rank + 1] <= row) rank++;
  return `rank ${rank}, row ${row - tokenOffsets[rank]}`;
}
