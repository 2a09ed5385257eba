/**
 * The walk that all policies share: logits of one rank at a time become scores, choices, gates and a tally.
 * Memory holds one rank's scores plus the Routing itself, however many ranks there are.
 * Does not know how a row is chosen.
 */
import { NO_EXPERT, type Routing, type RoutingStats, type TokenBatch } from '@epsim/spec';
import type { RoutingArena } from './arena.js';
import { gateRow } from './gates.js';
import type { RouterContext } from './policy.js';
import { scoreRows } from './scoring.js';
import { createTally, type Tally } from './tally.js';

/**
 * Chooses experts for the row whose scores start at `offset`: writes distinct ids, or NO_EXPERT, [width] at `at` of
 * `experts`. Returns the score mass of choices that were wanted and refused, usually 0.
 */
export type ChooseRow = (
  scores: Float32Array,
  offset: number,
  row: number,
  experts: Int32Array,
  at: number,
) => number;

/** Tokens of the batch over all ranks. */
export function tokenCountOf(batch: TokenBatch): number {
  return batch.tokenOffsets[batch.tokenOffsets.length - 1];
}

/**
 * Calls `visit` for every row in order with the scores of its rank, [tokens of the rank x expertCount].
 * With `scoring` null the values are the logits as they were read.
 * Throws RangeError when the batch has another number of experts or ranks than the context.
 */
export function forEachRow(
  context: RouterContext,
  arena: RoutingArena,
  batch: TokenBatch,
  scoring: RouterContext['scoring'] | null,
  visit: (values: Float32Array, offset: number, row: number) => void,
): void {
  checkBatch(context, batch);
  const { expertCount, rankCount } = context;
  for (let rank = 0; rank < rankCount; rank++) {
    const firstRow = batch.tokenOffsets[rank];
    const rowCount = batch.tokenOffsets[rank + 1] - firstRow;
    const values = arena.f32('scores of a rank', rowCount * expertCount);
    batch.readLogits(rank, values);
    if (scoring) scoreRows(scoring, values, rowCount, expertCount);
    for (let i = 0; i < rowCount; i++) visit(values, i * expertCount, firstRow + i);
  }
}

/** A Routing that is being written, in arrays of the arena. */
export interface OpenRouting {
  /** [tokens x width] */
  readonly experts: Int32Array;
  readonly weights: Float32Array;
  readonly tally: Tally;
  /** The finished Routing and its stats, with no bias drift. */
  close(): { routing: Routing; stats: RoutingStats };
}

/** An empty Routing for the batch, with room for `width` choices in a row, at least topK. */
export function openRouting(
  { expertCount, topK }: RouterContext,
  arena: RoutingArena,
  batch: TokenBatch,
  width: number,
): OpenRouting {
  const tokens = tokenCountOf(batch);
  const experts = arena.i32('routing experts', tokens * width);
  const weights = arena.f32('routing weights', tokens * width);
  const tally = createTally(expertCount, topK);
  return {
    experts,
    weights,
    tally,
    close() {
      const droppedChoices = tokens * topK - tally.made;
      const { scoreRetention, changedChoices } = tally;
      const { tokenOffsets } = batch;
      return {
        routing: { expertCount, topK, width, tokenOffsets, experts, weights, droppedChoices },
        stats: { droppedChoices, scoreRetention, changedChoices, biasDrift: 0 },
      };
    },
  };
}

/** Routes the batch row by row: chooses, weighs and tallies. `width` is the room for choices in a row. */
export function routeRows(
  context: RouterContext,
  arena: RoutingArena,
  batch: TokenBatch,
  width: number,
  choose: ChooseRow,
): { routing: Routing; stats: RoutingStats } {
  const { experts, weights, tally, close } = openRouting(context, arena, batch, width);
  forEachRow(context, arena, batch, context.scoring, (scores, offset, row) => {
    const at = row * width;
    const droppedMass = choose(scores, offset, row, experts, at);
    gateRow(context, scores, offset, experts, at, width, droppedMass, weights);
    tally.add(scores, offset, experts, at, width);
  });
  return close();
}

/** Choices that each expert received, [expertCount], written into `out`. */
export function countLoads(routing: Routing, out: Int32Array): Int32Array {
  out.fill(0);
  for (let i = 0; i < routing.experts.length; i++) {
    if (routing.experts[i] !== NO_EXPERT) out[routing.experts[i]]++;
  }
  return out;
}

function checkBatch(context: RouterContext, batch: TokenBatch): void {
  const { expertCount, rankCount } = context;
  if (batch.expertCount !== expertCount || batch.tokenOffsets.length !== rankCount + 1) {
    throw new RangeError(
      `batch of ${batch.expertCount} experts on ${batch.tokenOffsets.length - 1} ranks does not fit a router ` +
        `of ${expertCount} experts on ${rankCount} ranks`,
    );
  }
}
