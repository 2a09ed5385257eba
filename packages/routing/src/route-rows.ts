/**
 * The walk that all policies share: logits of one rank at a time become scores, choices, gates and a tally.
 * Memory holds one rank's scores plus the Routing itself, however many ranks there are.
 * A row whose recorded choices are all NO_EXPERT pads the batch: no policy sees it, and it gets no expert.
 * Does not know how a row is chosen.
 */
import { NO_EXPERT, type Routing, type TokenBatch } from '@epsim/spec';
import type { RoutingArena } from './arena.js';
import { gateRow } from './gates.js';
import type { RouteResult, RouterContext } from './policy.js';
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

/** Rows of the batch over all ranks, padding included. */
export function rowCountOf(batch: TokenBatch): number {
  return batch.tokenOffsets[batch.tokenOffsets.length - 1];
}

/** Rows of the batch that are tokens and not padding. Reads the recorded choices where there are any. */
export function tokenCountOf(context: RouterContext, arena: RoutingArena, batch: TokenBatch): number {
  let tokens = rowCountOf(batch);
  for (let rank = 0; rank < context.rankCount && batch.readChoices; rank++) {
    const choices = readChoicesOf(context, arena, batch, rank);
    for (let at = 0; at < choices.length; at += context.topK) {
      if (isPadding(choices, at, context.topK)) tokens--;
    }
  }
  return tokens;
}

/**
 * Calls `visit` for every token in order with the scores of its rank, [rows of the rank x expertCount].
 * With `scoring` null the values are the logits as they were read. Returns the number of tokens.
 * Throws RangeError when the batch has another number of experts or ranks than the context.
 */
export function forEachRow(
  context: RouterContext,
  arena: RoutingArena,
  batch: TokenBatch,
  scoring: RouterContext['scoring'] | null,
  visit: (values: Float32Array, offset: number, row: number) => void,
): number {
  checkBatch(context, batch);
  const { expertCount, rankCount, topK } = context;
  let tokens = 0;
  for (let rank = 0; rank < rankCount; rank++) {
    const firstRow = batch.tokenOffsets[rank];
    const rowCount = batch.tokenOffsets[rank + 1] - firstRow;
    const values = arena.f32('scores of a rank', rowCount * expertCount);
    batch.readLogits(rank, values);
    if (scoring) scoreRows(scoring, values, rowCount, expertCount);
    const choices = batch.readChoices ? readChoicesOf(context, arena, batch, rank) : null;
    for (let i = 0; i < rowCount; i++) {
      if (choices && isPadding(choices, i * topK, topK)) continue;
      visit(values, i * expertCount, firstRow + i);
      tokens++;
    }
  }
  return tokens;
}

/** Recorded choices of a rank, [rows of the rank x topK]. */
function readChoicesOf(
  { topK }: RouterContext,
  arena: RoutingArena,
  { tokenOffsets, readChoices }: TokenBatch,
  rank: number,
): Int32Array {
  const choices = arena.i32('recorded choices', (tokenOffsets[rank + 1] - tokenOffsets[rank]) * topK);
  readChoices?.(rank, choices);
  return choices;
}

function isPadding(choices: Int32Array, at: number, topK: number): boolean {
  for (let i = at; i < at + topK; i++) if (choices[i] !== NO_EXPERT) return false;
  return true;
}

/** A Routing that is being written, in arrays of the arena. */
export interface OpenRouting {
  /** [rows x width], NO_EXPERT and 0 at first. */
  readonly experts: Int32Array;
  readonly weights: Float32Array;
  readonly tally: Tally;
  /** The finished Routing of that many tokens and its stats, with no bias drift. */
  close(tokens: number): RouteResult;
}

/** An empty Routing for the batch, with room for `width` choices in a row, at least topK. */
export function openRouting(
  { expertCount, topK }: RouterContext,
  arena: RoutingArena,
  batch: TokenBatch,
  width: number,
): OpenRouting {
  const rows = rowCountOf(batch);
  const experts = arena.i32('routing experts', rows * width).fill(NO_EXPERT);
  const weights = arena.f32('routing weights', rows * width).fill(0);
  const tally = createTally(expertCount, topK);
  return {
    experts,
    weights,
    tally,
    close(tokens) {
      const { made, scoreRetention, changedChoices } = tally;
      const { tokenOffsets } = batch;
      const droppedChoices = rows * topK - made;
      return {
        routing: { expertCount, topK, width, tokenOffsets, experts, weights, droppedChoices },
        stats: { droppedChoices: tokens * topK - made, scoreRetention, changedChoices, biasDrift: 0 },
        paddedTokens: rows - tokens,
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
): RouteResult {
  const { experts, weights, tally, close } = openRouting(context, arena, batch, width);
  const tokens = forEachRow(context, arena, batch, context.scoring, (scores, offset, row) => {
    const at = row * width;
    const droppedMass = choose(scores, offset, row, experts, at);
    gateRow(context, scores, offset, experts, at, width, droppedMass, weights);
    tally.add(scores, offset, experts, at, width);
  });
  return close(tokens);
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
