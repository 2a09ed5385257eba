/**
 * Recorded choices as token batches. One idea: rows are one long sequence, and each step takes the next ones.
 * Router scores were not recorded; for policies that need them they are drawn so that plain top-k gives back the
 * recorded choices: noise around the recording's own popularity, whose k largest values go to the chosen experts.
 */
import { NO_EXPERT, type TokenBatch } from '@epsim/spec';
import { addNoise, noiseState } from '../scores/noise.js';
import { normalQuantile } from '../scores/normal-curve.js';
import { largest } from '../scores/top-k.js';
import { checkPlace, evenOffsets, roomFor, type Workload, type WorkloadContext } from '../workload.js';
import { type ChoiceTrace, countRows, rowsOfFrames, totalLoads } from './trace.js';

export interface ReplayOptions {
  /** Ranks get the rows that they had, frame s modulo the frames at step s; else rows are dealt out in order. */
  readonly asRecorded: boolean;
  readonly file: string;
}

/** Throws RangeError when rows as recorded do not fit the scenario's ranks. */
export function replay(trace: ChoiceTrace, context: WorkloadContext, options: ReplayOptions): Workload {
  const source = rowSource(trace);
  const choose = options.asRecorded
    ? asRecorded(trace, context, options.file)
    : dealt(source.rowCount, context);
  const offsetsOf = popularityOffsets(trace);
  return {
    batch(step, layer) {
      checkPlace(step, layer, context.layers);
      const { tokenOffsets, firstRow } = choose.rows(step);
      return replayBatch({
        step,
        layer,
        trace,
        source,
        tokenOffsets,
        firstRow,
        offsets: offsetsOf(layer),
        context,
      });
    },
    description: [
      choose.description,
      ...describeRows(trace),
      'router scores are drawn to agree with the recorded choices',
    ],
  };
}

interface RowChoice {
  /** Rows of a step: those from `firstRow` on, wrapping at the end. */
  rows(step: number): { tokenOffsets: Int32Array; firstRow: number };
  readonly description: string;
}

function dealt(rowCount: number, { rankCount, tokensPerRank }: WorkloadContext): RowChoice {
  const perStep = rankCount * tokensPerRank;
  const tokenOffsets = evenOffsets(rankCount, tokensPerRank);
  const whole = Math.floor(rowCount / perStep);
  const description =
    whole === 0
      ? `it has ${rowCount} rows and a step takes ${perStep}: rows repeat within a step`
      : `its ${rowCount} rows are dealt out in order, ${perStep} a step; they begin again after ${whole} steps`;
  return { rows: (step) => ({ tokenOffsets, firstRow: (step * perStep) % rowCount }), description };
}

function asRecorded(trace: ChoiceTrace, context: WorkloadContext, file: string): RowChoice {
  const { rankCount, frameTokens } = trace;
  if (rankCount !== context.rankCount) {
    throw new RangeError(
      `${file}: recorded on ${rankCount} ranks, the scenario has ${context.rankCount}; deal rows out`,
    );
  }
  const most = frameTokens.indexOf(Math.max(...frameTokens));
  if (frameTokens[most] > context.tokensPerRank) {
    throw new RangeError(
      `${file}: frame ${Math.floor(most / rankCount)} has ${frameTokens[most]} rows on rank ${most % rankCount}; ` +
        `tokensPerRank is ${context.tokensPerRank}`,
    );
  }
  const frames = frameTokens.length / rankCount;
  const firstRows = new Int32Array(frames);
  rowsOfFrames(trace).forEach((rows, f) => {
    if (f + 1 < frames) firstRows[f + 1] = firstRows[f] + rows;
  });
  return {
    rows: (step) => {
      const frame = step % frames;
      const tokenOffsets = new Int32Array(rankCount + 1);
      for (let r = 0; r < rankCount; r++) {
        tokenOffsets[r + 1] = tokenOffsets[r] + frameTokens[frame * rankCount + r];
      }
      return { tokenOffsets, firstRow: firstRows[frame] };
    },
    description: `its ${frames} frames are replayed on the ranks that had them, one a step`,
  };
}

function describeRows(trace: ChoiceTrace): string[] {
  const { rows, padded } = countRows(trace);
  return padded > 0 ? [`${rows - padded} of its rows are tokens, ${padded} are padding`] : [];
}

interface RowSource {
  readonly rowCount: number;
  /** Index in `experts` of the first choice of a row in a layer. */
  startOf(row: number, layer: number): number;
}

function rowSource(trace: ChoiceTrace): RowSource {
  const { topK, layerIds } = trace;
  const frameRows = rowsOfFrames(trace);
  const rowCount = frameRows.reduce((sum, rows) => sum + rows, 0);
  // Frame of each row, so that finding a row costs nothing.
  const frameOfRow = new Int32Array(rowCount);
  const firstRow = new Int32Array(frameRows.length);
  let row = 0;
  frameRows.forEach((rows, frame) => {
    firstRow[frame] = row;
    frameOfRow.fill(frame, row, row + rows);
    row += rows;
  });
  return {
    rowCount,
    startOf(at, layer) {
      const frame = frameOfRow[at];
      const first = firstRow[frame];
      return (first * layerIds.length + layer * frameRows[frame] + (at - first)) * topK;
    },
  };
}

/** Score offsets of a layer from the recording's own loads, half a choice added so that none is impossible. */
function popularityOffsets(trace: ChoiceTrace): (layer: number) => Float32Array {
  const { expertCount, topK } = trace;
  const totals = totalLoads(trace);
  return (layer) => {
    const loads = totals.subarray(layer * expertCount, (layer + 1) * expertCount);
    const all = loads.reduce((sum, load) => sum + load + 0.5, 0);
    return Float32Array.from(loads, (load) => normalQuantile(Math.min(0.99, ((load + 0.5) / all) * topK)));
  };
}

interface ReplayPlan {
  readonly step: number;
  readonly layer: number;
  readonly trace: ChoiceTrace;
  readonly source: RowSource;
  readonly tokenOffsets: Int32Array;
  readonly firstRow: number;
  readonly offsets: Float32Array;
  readonly context: WorkloadContext;
}

function replayBatch(plan: ReplayPlan): TokenBatch {
  const { step, layer, trace, source, tokenOffsets, firstRow, offsets, context } = plan;
  const { experts, topK, expertCount } = trace;
  const startOf = (rank: number, token: number): number =>
    source.startOf((firstRow + tokenOffsets[rank] + token) % source.rowCount, layer);
  return {
    step,
    layer,
    expertCount,
    tokenOffsets,
    readChoices(rank, out) {
      const tokens = roomFor(tokenOffsets, rank, topK, out);
      for (let token = 0; token < tokens; token++) {
        const start = startOf(rank, token);
        for (let k = 0; k < topK; k++) out[token * topK + k] = experts[start + k];
      }
    },
    readLogits(rank, out) {
      const tokens = roomFor(tokenOffsets, rank, expertCount, out);
      const noise = noiseState(context.seed, 'replayed scores', step, layer, rank);
      const hand = dealer(topK);
      for (let token = 0; token < tokens; token++) {
        addNoise(noise, offsets, out, token * expertCount);
        const start = startOf(rank, token);
        hand(
          experts.subarray(start, start + topK),
          out.subarray(token * expertCount, (token + 1) * expertCount),
        );
      }
    },
  };
}

/**
 * Swaps the values of a row so that its largest, in order, belong to the chosen experts, in order. Padding and a
 * second naming of the same expert take none.
 */
function dealer(topK: number): (chosen: Int16Array, row: Float32Array) => void {
  const best = new Int32Array(topK);
  const values = new Float64Array(topK);
  return (chosen, row) => {
    let wanted = 0;
    for (let k = 0; k < topK; k++) if (isNew(chosen, k)) wanted++;
    if (wanted === 0) return;
    largest(row, 0, row.length, wanted, best, values);
    // Values of chosen experts outside the best go to the best that were not chosen.
    let free = 0;
    for (let k = 0; k < topK; k++) {
      const expert = chosen[k];
      if (!isNew(chosen, k) || best.subarray(0, wanted).includes(expert)) continue;
      while (chosen.includes(best[free])) free++;
      row[best[free]] = row[expert];
      free++;
    }
    let rank = 0;
    for (let k = 0; k < topK; k++) if (isNew(chosen, k)) row[chosen[k]] = values[rank++];
  };
}

function isNew(chosen: Int16Array, k: number): boolean {
  return chosen[k] !== NO_EXPERT && chosen.indexOf(chosen[k]) === k;
}
