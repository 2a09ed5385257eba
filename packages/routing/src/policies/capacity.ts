/**
 * Top-k with a capacity: an expert takes at most ceil(factor x tokens x k / E) choices of the batch, the rest are
 * dropped. A gate keeps its value when others of its token are dropped (Switch Transformer, Megatron-LM), so rows with
 * drops weigh less. `score` drops the lowest scores and reads the batch twice; `position` drops what comes last.
 */
import { NO_EXPERT, type TokenBatch } from '@epsim/spec';
import { z } from 'zod';
import { createRoutingArena } from '../arena.js';
import { startingBias } from '../bias.js';
import { createKeepers, type Keepers } from '../keepers.js';
import { definePolicy } from '../policy.js';
import { forEachRow, routeRows, tokenCountOf } from '../route-rows.js';
import { createSelector } from '../select.js';

export const capacity = definePolicy({
  summary: 'top-k where an expert takes a bounded number of tokens and drops the rest',
  options: z.strictObject({
    factor: z.number().positive().default(1.25).describe('capacity over the mean load'),
    drop: z
      .enum(['score', 'position'])
      .default('score')
      .describe('what goes first: the lowest score, or the last row'),
  }),
  create(context, { factor, drop }) {
    const { expertCount, topK } = context;
    const arena = context.arena ?? createRoutingArena();
    const bias = startingBias(context);
    const selector = createSelector(expertCount, topK);
    const room = new Int32Array(expertCount);

    function offerAll(batch: TokenBatch): Keepers {
      const keepers = createKeepers(arena, room);
      forEachRow(context, arena, batch, context.scoring, (scores, offset, row) => {
        selector.select(scores, offset, bias);
        for (let i = 0; i < topK; i++) {
          keepers.offer(selector.ids[i], scores[offset + selector.ids[i]], row);
        }
      });
      return keepers;
    }

    return {
      bias: context.initialBias ? bias : null,
      route(batch) {
        const tokens = tokenCountOf(context, arena, batch);
        // The small slack keeps 1.1 x 10 from becoming 11.000000000000002 and a capacity of 12.
        room.fill(Math.min(tokens, Math.ceil((factor * tokens * topK) / expertCount - 1e-9)));
        const keepers = drop === 'score' ? offerAll(batch) : null;
        return routeRows(context, arena, batch, topK, (scores, offset, row, experts, at) => {
          selector.select(scores, offset, bias);
          let droppedMass = 0;
          for (let i = 0; i < topK; i++) {
            const expert = selector.ids[i];
            const score = scores[offset + expert];
            const kept = keepers ? keepers.keeps(expert, score, row) : room[expert]-- > 0;
            experts[at + i] = kept ? expert : NO_EXPERT;
            if (!kept) droppedMass += score;
          }
          return droppedMass;
        });
      },
    };
  },
});
