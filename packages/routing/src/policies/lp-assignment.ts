/**
 * The balanced optimum of each batch, as the bound to hold other policies against: no balanced routing keeps
 * noticeably more score mass. It looks at the whole batch before it routes the first token, so no router can do it.
 * Prices by alternating quantiles, then greedy repair: loads differ by at most one choice, the mass is within a
 * fraction of a percent of the linear program's optimum. Holds all scores: 4 bytes x tokens x experts.
 */
import { z } from 'zod';
import { createRoutingArena } from '../arena.js';
import { assignBalanced } from '../balanced-assignment.js';
import { definePolicy } from '../policy.js';
import { forEachRow, routeRows, tokenCountOf } from '../route-rows.js';

export const lpAssignment = definePolicy({
  summary: 'the balanced assignment with the most score mass, batch by batch: a bound, not a router',
  options: z.strictObject({}),
  create(context) {
    const { expertCount, topK } = context;
    const arena = context.arena ?? createRoutingArena();
    return {
      bias: null,
      route(batch) {
        const tokens = tokenCountOf(context, arena, batch);
        const all = arena.f32('scores of a batch', tokens * expertCount);
        let next = 0;
        forEachRow(context, arena, batch, context.scoring, (scores, offset) => {
          for (let e = 0; e < expertCount; e++) all[next++] = scores[offset + e];
        });
        const chosen = arena.i32('balanced choices', tokens * topK);
        assignBalanced(all, expertCount, topK, chosen);
        next = 0;
        return routeRows(context, arena, batch, topK, (_scores, _offset, _row, experts, at) => {
          for (let i = 0; i < topK; i++) experts[at + i] = chosen[next++];
          return 0;
        });
      },
    };
  },
});
