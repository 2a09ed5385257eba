/**
 * What was recorded from a real model, whatever tool recorded it: the choices of every token, or loads per expert,
 * or only how balanced ranks were. Knows the model it came from; knows no file format.
 */
import { NO_EXPERT } from '@epsim/spec';

interface TraceHead {
  /** Name of the model it was recorded from; null when the recording does not say. */
  readonly model: string | null;
  /** Importer and files. */
  readonly source: string;
  /** What was left out or assumed on the way, one sentence each. */
  readonly notes: readonly string[];
}

interface RoutedHead extends TraceHead {
  readonly expertCount: number;
  /** The recording's number of each layer, first to last; dense layers are left out. */
  readonly layerIds: readonly number[];
}

/** Which experts each token chose. A frame is what was recorded together: a forward pass, or a request. */
export interface ChoiceTrace extends RoutedHead {
  readonly kind: 'choices';
  readonly topK: number;
  readonly rankCount: number;
  /** Rows of each rank in each frame, padding included, [frames x rankCount]. */
  readonly frameTokens: Int32Array;
  /** Frame by frame [layers x rows of the frame x topK], ranks one after another; NO_EXPERT is padding. */
  readonly experts: Int16Array;
}

/** Choices per expert. */
export interface LoadTrace extends RoutedHead {
  readonly kind: 'loads';
  /** Null when the recording does not say. */
  readonly topK: number | null;
  readonly frameCount: number;
  /** [frames x layers x expertCount] */
  readonly loads: Float64Array;
}

/** Mean and busiest rank, of logs that say no more. */
export interface BalanceTrace extends TraceHead {
  readonly kind: 'balance';
  /** [samples] each. */
  readonly meanTokens: Float64Array;
  readonly maxTokens: Float64Array;
}

export type Trace = ChoiceTrace | LoadTrace | BalanceTrace;

/** Expert ids are kept in 16 bits. */
export const MOST_EXPERTS = 32_767;

/** Rows of each frame over its ranks, [frames]. */
export function rowsOfFrames(trace: ChoiceTrace): Int32Array {
  const frames = trace.frameTokens.length / trace.rankCount;
  const rows = new Int32Array(frames);
  for (let i = 0; i < trace.frameTokens.length; i++)
    rows[Math.floor(i / trace.rankCount)] += trace.frameTokens[i];
  return rows;
}

/** Rows in all, and those among them that only pad: no expert in any layer. */
export function countRows(trace: ChoiceTrace): { rows: number; padded: number } {
  const { topK, layerIds, experts } = trace;
  let rows = 0;
  let padded = 0;
  let start = 0;
  for (const frameRows of rowsOfFrames(trace)) {
    for (let row = 0; row < frameRows; row++) {
      let choices = 0;
      for (let layer = 0; layer < layerIds.length; layer++) {
        const at = start + (layer * frameRows + row) * topK;
        for (let k = 0; k < topK; k++) if (experts[at + k] !== NO_EXPERT) choices++;
      }
      if (choices === 0) padded++;
    }
    rows += frameRows;
    start += frameRows * layerIds.length * topK;
  }
  return { rows, padded };
}

/** Choices per expert over the whole recording, [layers x expertCount]. Padding is not counted. */
export function totalLoads(trace: ChoiceTrace | LoadTrace): Float64Array {
  const { expertCount } = trace;
  const layers = trace.layerIds.length;
  const totals = new Float64Array(layers * expertCount);
  if (trace.kind === 'loads') {
    for (let i = 0; i < trace.loads.length; i++) totals[i % totals.length] += trace.loads[i];
    return totals;
  }
  let start = 0;
  for (const rows of rowsOfFrames(trace)) {
    const layerSize = rows * trace.topK;
    for (let layer = 0; layer < layers; layer++) {
      for (let i = 0; i < layerSize; i++) {
        const expert = trace.experts[start + layer * layerSize + i];
        if (expert !== NO_EXPERT) totals[layer * expertCount + expert]++;
      }
    }
    start += layers * layerSize;
  }
  return totals;
}
