/**
 * Replays the choices of a real model from its trace. Nothing is decided here; what is checked is that the ids are
 * experts and that no token names one twice. -1 is no choice; a row of nothing but -1 is padding, and is counted.
 * Gates follow from the logits; where the trace has none (NaN) they are equal, and score retention is not known (NaN).
 */
import { NO_EXPERT, type TokenBatch, type UserError } from '@epsim/spec';
import { z } from 'zod';
import { createRoutingArena } from '../arena.js';
import { gateRow } from '../gates.js';
import { userMistake } from '../mistakes.js';
import { definePolicy, type RouterContext } from '../policy.js';
import { forEachRow, openRouting, rowCountOf } from '../route-rows.js';

export const recorded = definePolicy({
  summary: 'the choices that a real model made, replayed from a trace',
  options: z.strictObject({}),
  create(context) {
    const { topK } = context;
    const arena = context.arena ?? createRoutingArena();
    return {
      bias: null,
      route(batch) {
        const { experts, weights, tally, close } = openRouting(context, arena, batch, topK);
        const made = readAllChoices(context, batch, experts);
        const tokens = forEachRow(context, arena, batch, context.scoring, (scores, offset, row) => {
          const at = row * topK;
          if (Number.isNaN(scores[offset])) {
            equalGates(context, experts, at, made[row], weights);
            tally.addUnscored(made[row]);
          } else {
            gateRow(context, scores, offset, experts, at, topK, 0, weights);
            tally.add(scores, offset, experts, at, topK);
          }
        });
        return close(tokens);
      },
    };
  },
});

/** Weights of a row without scores, [topK] at `at`: the scaling in equal parts. */
function equalGates(
  context: RouterContext,
  experts: Int32Array,
  at: number,
  made: number,
  weights: Float32Array,
): void {
  for (let i = at; i < at + context.topK; i++) {
    weights[i] = experts[i] === NO_EXPERT ? 0 : context.routedScaling / made;
  }
}

/**
 * Reads the choices of all ranks into `choices`, [rows x topK], and returns how many each row has, [rows].
 * Throws UserError when there are none, or with rank and row of the first that is wrong.
 */
function readAllChoices(context: RouterContext, batch: TokenBatch, choices: Int32Array): Int32Array {
  if (!batch.readChoices) {
    throw userMistake('routing.policy', {
      kind: 'missing',
      subject: 'recorded choices',
      value: 'the workload has none to replay',
      help: 'use a trace, or another policy',
    });
  }
  const { topK, rankCount } = context;
  const made = new Int32Array(rowCountOf(batch));
  for (let rank = 0; rank < rankCount; rank++) {
    const first = batch.tokenOffsets[rank];
    const end = batch.tokenOffsets[rank + 1];
    batch.readChoices(rank, choices.subarray(first * topK, end * topK));
    for (let row = first; row < end; row++) made[row] = checkRow(context, choices, row, rank, first);
  }
  return made;
}

/** Number of choices of a row of `rank`, whose first row is `first`. */
function checkRow(
  { topK, expertCount }: RouterContext,
  choices: Int32Array,
  row: number,
  rank: number,
  first: number,
): number {
  let made = 0;
  for (let i = row * topK; i < (row + 1) * topK; i++) {
    const expert = choices[i];
    if (expert === NO_EXPERT) continue;
    if (expert < 0 || expert >= expertCount)
      throw wrongChoice('unknown', rank, row - first, `${expert} of ${expertCount}`);
    if (choices.indexOf(expert, row * topK) < i)
      throw wrongChoice('repeated', rank, row - first, `${expert} twice in one token`);
    made++;
  }
  return made;
}

function wrongChoice(kind: string, rank: number, row: number, what: string): UserError {
  return userMistake('workload', {
    kind,
    subject: 'recorded expert',
    value: `rank ${rank} row ${row}: ${what}`,
    help: 'rows that only pad must hold -1',
  });
}
