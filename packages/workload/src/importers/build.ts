/**
 * From what an importer has read to a Trace: ids are checked, padding is counted, layers without experts are left
 * out. Every importer ends here, so that every format is held to the same rules.
 */
import { NO_EXPERT, plural } from '@epsim/spec';
import { type ChoiceTrace, countRows, type LoadTrace, MOST_EXPERTS } from '../trace/trace.js';
import type { ImportHints } from './importer.js';

export interface ChoiceFrame {
  /** Rows of each rank, one rank after another. */
  readonly rankTokens: readonly number[];
  /** Recorded id of a choice; `layer` counts the recording's layers, dense ones too. */
  id(layer: number, row: number, k: number): number;
  /** Where a row stands, for errors. */
  place(layer: number, row: number): string;
}

export interface ChoiceHead {
  readonly source: string;
  readonly notes: readonly string[];
  readonly expertCount: number;
  readonly topK: number;
  /** Layers of the recording, dense ones included; numbered from 0 unless `layerIds` says otherwise. */
  readonly layers: number;
  readonly layerIds?: readonly number[];
  readonly rankCount: number;
}

/** Throws RangeError with the place of an id that is no expert. */
export function choiceTrace(
  head: ChoiceHead,
  frames: readonly ChoiceFrame[],
  hints: ImportHints,
): ChoiceTrace {
  const { expertCount, topK, rankCount } = head;
  checkExpertCount(head.source, expertCount);
  if (topK > expertCount) throw new RangeError(`${head.source}: top-${topK} of ${expertCount} experts`);
  const layers = Array.from({ length: head.layers }, (_, i) => i).filter((i) => hasChoices(frames, i, topK));
  if (layers.length === 0) {
    throw new RangeError(
      `${head.source}: no layer has a choice: every id is ${NO_EXPERT} or 0, as where nothing was recorded; record with routing on`,
    );
  }
  const frameRows = frames.map((frame) => frame.rankTokens.reduce((sum, rows) => sum + rows, 0));
  const experts = new Int16Array(frameRows.reduce((sum, rows) => sum + rows, 0) * layers.length * topK);
  let next = 0;
  frames.forEach((frame, f) => {
    const realRows = realRowsOf(frame, frameRows[f], hints.realTokens);
    for (const layer of layers) {
      for (let row = 0; row < frameRows[f]; row++) {
        for (let k = 0; k < topK; k++) {
          const id = row < realRows ? frame.id(layer, row, k) : NO_EXPERT;
          if (!(id >= NO_EXPERT && id < expertCount)) {
            throw new RangeError(`${frame.place(layer, row)}: expert ${id} of ${expertCount} experts`);
          }
          experts[next++] = id;
        }
      }
    }
  });
  const trace: ChoiceTrace = {
    kind: 'choices',
    model: hints.model ?? null,
    source: head.source,
    notes: head.notes,
    expertCount,
    layerIds: layers.map((layer) => head.layerIds?.[layer] ?? layer),
    topK,
    rankCount,
    frameTokens: Int32Array.from(frames.flatMap((frame) => frame.rankTokens)),
    experts,
  };
  const { rows, padded } = countRows(trace);
  const dense = head.layers - layers.length;
  return {
    ...trace,
    notes: [
      ...head.notes,
      ...(dense > 0 ? [`${plural(dense, 'layer')} without choices left out: dense layers`] : []),
      ...(padded > 0 ? [`${padded} of ${plural(rows, 'row')} only pad and are not counted as tokens`] : []),
    ],
  };
}

function realRowsOf(frame: ChoiceFrame, rows: number, realTokens: number | undefined): number {
  if (realTokens === undefined) return rows;
  if (realTokens > rows) {
    throw new RangeError(
      `${frame.place(0, 0)}: ${realTokens} real tokens stated, ${plural(rows, 'row')} recorded`,
    );
  }
  return realTokens;
}

/** False where every id is -1, or every id is 0 though a token chooses several: a recorder's untouched memory. */
function hasChoices(frames: readonly ChoiceFrame[], layer: number, topK: number): boolean {
  let zeros = false;
  for (const frame of frames) {
    const rows = frame.rankTokens.reduce((sum, count) => sum + count, 0);
    for (let row = 0; row < rows; row++) {
      for (let k = 0; k < topK; k++) {
        const id = frame.id(layer, row, k);
        if (id === 0 && topK > 1) zeros = true;
        else if (id !== NO_EXPERT) return true;
      }
    }
  }
  return zeros && topK === 1;
}

export interface LoadHead {
  readonly source: string;
  readonly notes: readonly string[];
  readonly expertCount: number;
  readonly topK: number | null;
  readonly layers: number;
  readonly layerIds?: readonly number[];
}

/**
 * A load trace from [frames x layers x expertCount] values. Frames and layers without any load are left out: unused
 * buffers and dense layers. Throws RangeError when nothing is left or a value is no load.
 */
export function loadTrace(head: LoadHead, values: ArrayLike<number>, hints: ImportHints): LoadTrace {
  const { expertCount, layers } = head;
  checkExpertCount(head.source, expertCount);
  const frameSize = layers * expertCount;
  const frames = Math.floor(values.length / frameSize);
  const frameLoads = new Float64Array(frames);
  const layerLoads = new Float64Array(layers);
  for (let i = 0; i < frames * frameSize; i++) {
    if (!(values[i] >= 0) || values[i] === Number.POSITIVE_INFINITY) {
      const layer = Math.floor((i % frameSize) / expertCount);
      const place = `${head.source}: frame ${Math.floor(i / frameSize)}, layer ${layer}, expert ${i % expertCount}`;
      throw new RangeError(`${place}: not a load: ${values[i]}`);
    }
    frameLoads[Math.floor(i / frameSize)] += values[i];
    layerLoads[Math.floor((i % frameSize) / expertCount)] += values[i];
  }
  const usedFrames = indicesWithLoad(frameLoads);
  const usedLayers = indicesWithLoad(layerLoads);
  if (usedFrames.length === 0) throw new RangeError(`${head.source}: no load at all`);
  const loads = new Float64Array(usedFrames.length * usedLayers.length * expertCount);
  let next = 0;
  for (const frame of usedFrames) {
    for (const layer of usedLayers) {
      const start = frame * frameSize + layer * expertCount;
      for (let e = 0; e < expertCount; e++) loads[next++] = values[start + e];
    }
  }
  return {
    kind: 'loads',
    model: hints.model ?? null,
    source: head.source,
    notes: [
      ...head.notes,
      ...leftOut(frames - usedFrames.length, 'frame', 'unused buffers'),
      ...leftOut(layers - usedLayers.length, 'layer', 'dense layers'),
    ],
    expertCount,
    topK: head.topK ?? hints.topK ?? null,
    layerIds: usedLayers.map((layer) => head.layerIds?.[layer] ?? layer),
    frameCount: usedFrames.length,
    loads,
  };
}

function indicesWithLoad(loads: Float64Array): number[] {
  return Array.from(loads.keys()).filter((i) => loads[i] > 0);
}

function leftOut(count: number, noun: string, why: string): string[] {
  return count > 0 ? [`${plural(count, noun)} without load left out: ${why}`] : [];
}

function checkExpertCount(source: string, expertCount: number): void {
  if (!(expertCount >= 1 && expertCount <= MOST_EXPERTS)) {
    throw new RangeError(`${source}: ${expertCount} experts; 1 to ${MOST_EXPERTS} are handled`);
  }
}
