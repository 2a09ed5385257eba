/**
 * A layer in the simulator's own schedule, every rank with its clocks, between layers like itself.
 * One idea: three layers in a row less two are what a layer takes when it is neither the first nor the last.
 */
import { type MicroBatch, type Op, overlaps, schedule } from '@epsim/engine';
import { receivedNs, sentNs } from './exchanges.js';
import type { Stage } from './stages.js';

export type OverlapName = keyof typeof overlaps;

/** What every rank of a stage computes in a layer, ns; routed experts apart. */
export interface LocalTimes {
  readonly before: number;
  readonly shared: number;
  readonly after: number;
}

/** One micro-batch of `tokens` on every rank, with experts as long as those of `experts`, [expertRanks]. */
export function microBatch(
  stage: Stage,
  experts: Float64Array,
  parts: LocalTimes,
  tokens: number,
  expertTensor: number,
): MicroBatch {
  const ranks = experts.length * expertTensor;
  const all = (ns: number) => new Float64Array(ranks).fill(ns);
  const each = (ns: (rank: number) => number) => Float64Array.from({ length: ranks }, (_, rank) => ns(rank));
  const { dispatch, combine, placed } = stage;
  return {
    pre: all(parts.before),
    shared: all(parts.shared),
    experts: each((rank) => experts[Math.floor(rank / expertTensor)]),
    post: all(parts.after),
    dispatchSentNs: each((rank) => sentNs(dispatch, rank, tokens)),
    dispatchReceivedNs: each((rank) => receivedNs(dispatch, rank, tokens)),
    combineSentNs: each((rank) => sentNs(combine, rank, tokens)),
    combineReceivedNs: each((rank) => receivedNs(combine, rank, tokens)),
    sends: placed.sends,
  };
}

/** What one more layer adds when layers follow one another: three layers less two. */
export function steadyLayerNs(name: OverlapName, batch: MicroBatch, ranks: number): number {
  const endOf = (layers: number) => {
    const { program, microBatches } = overlaps[name];
    const batches = Array.from({ length: layers * microBatches }, () => batch);
    return Math.max(...schedule(layersInARow(program, microBatches, layers), batches, ranks).endNs);
  };
  return endOf(3) - endOf(2);
}

/**
 * The program of several layers: the end of a layer and the start of the next follow each other batch by batch,
 * so that one half of the batch may travel while the other ends its layer.
 */
export function layersInARow(program: readonly Op[], microBatches: number, layers: number): readonly Op[] {
  const inLayer = (op: Op, layer: number): Op => ({ ...op, batch: layer * microBatches + op.batch });
  const of = (names: readonly Op['name'][], batch: number) =>
    program.filter((op) => names.includes(op.name) && op.batch === batch);
  const middle = program.filter((op) => !['pre', 'dispatch', 'post'].includes(op.name));
  const batches = Array.from({ length: microBatches }, (_, b) => b);
  const heads = (layer: number, b: number) => of(['pre', 'dispatch'], b).map((op) => inLayer(op, layer));
  const tails = (layer: number, b: number) => of(['post'], b).map((op) => inLayer(op, layer));
  const out: Op[] = batches.flatMap((b) => heads(0, b));
  for (let layer = 0; layer < layers; layer++) {
    out.push(...middle.map((op) => inLayer(op, layer)));
    for (const b of batches) {
      out.push(...tails(layer, b));
      if (layer + 1 < layers) out.push(...heads(layer + 1, b));
    }
  }
  return out;
}
