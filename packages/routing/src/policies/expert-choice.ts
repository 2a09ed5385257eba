/**
 * Experts choose tokens: each takes the tokens that score it highest, exactly its share of tokens x k choices.
 * Load is even by construction; a token may get more than k experts, or none. Where the share is not whole the first
 * experts take one more. It needs the whole batch before the first row, and later tokens decide about earlier ones.
 * Reads the batch twice; memory is tokens x k kept rows, plus a Routing as wide as its most wanted token.
 * Source: Zhou et al., Mixture-of-Experts with Expert Choice Routing, arXiv 2202.09368.
 */
import { z } from 'zod';
import { createRoutingArena } from '../arena.js';
import { createKeepers } from '../keepers.js';
import { definePolicy } from '../policy.js';
import { forEachRow, routeRows, rowCountOf, tokenCountOf } from '../route-rows.js';
import { evenShares } from '../shares.js';

export const expertChoice = definePolicy({
  summary: 'each expert takes its share of tokens, those that score it highest; tokens get what is left',
  options: z.strictObject({}),
  create(context) {
    const { expertCount, topK } = context;
    const arena = context.arena ?? createRoutingArena();
    return {
      bias: null,
      route(batch) {
        const tokens = tokenCountOf(context, arena, batch);
        const keepers = createKeepers(arena, evenShares(tokens * topK, expertCount));
        forEachRow(context, arena, batch, context.scoring, (scores, offset, row) => {
          for (let expert = 0; expert < expertCount; expert++)
            keepers.offer(expert, scores[offset + expert], row);
        });
        const width = Math.max(topK, keepers.maxKeptPerRow(rowCountOf(batch)));
        return routeRows(context, arena, batch, width, (scores, offset, row, experts, at) => {
          let next = at;
          for (let expert = 0; expert < expertCount; expert++) {
            if (keepers.keeps(expert, scores[offset + expert], row)) experts[next++] = expert;
          }
          return 0;
        });
      },
    };
  },
});
