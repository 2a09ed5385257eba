/**
 * Plain top-k: each token takes the k experts it scores highest, with the model's stored bias if it has one.
 * Nothing balances load; it is the routing that others are compared with.
 */
import { z } from 'zod';
import { createRoutingArena } from '../arena.js';
import { startingBias } from '../bias.js';
import { definePolicy } from '../policy.js';
import { routeRows } from '../route-rows.js';
import { createSelector } from '../select.js';

export const topK = definePolicy({
  summary: 'the k highest scores of each token, with the stored bias of the model if there is one',
  options: z.strictObject({}),
  create(context) {
    const arena = context.arena ?? createRoutingArena();
    const bias = startingBias(context);
    const selector = createSelector(context.expertCount, context.topK);
    return {
      bias: context.initialBias ? bias : null,
      route(batch) {
        return routeRows(context, arena, batch, context.topK, (scores, offset, _row, experts, at) => {
          selector.select(scores, offset, bias);
          experts.set(selector.ids, at);
          return 0;
        });
      },
    };
  },
});
