/**
 * k distinct experts at random, whatever the scores: what perfect balance in expectation still leaves to chance.
 * Its MaxVio is the sampling floor that other policies are held against.
 */
import { randomSource } from '@epsim/spec';
import { z } from 'zod';
import { createRoutingArena } from '../arena.js';
import { createDistinctDraw } from '../draw.js';
import { definePolicy } from '../policy.js';
import { routeRows } from '../route-rows.js';

export const randomUniform = definePolicy({
  summary: 'k distinct experts at random: the balance that chance alone allows',
  options: z.strictObject({}),
  create(context) {
    const arena = context.arena ?? createRoutingArena();
    const draw = createDistinctDraw(context.expertCount, context.topK);
    return {
      bias: null,
      route(batch) {
        const { uniform } = randomSource(context.seed, 'random-uniform', context.layer, batch.step);
        return routeRows(context, arena, batch, context.topK, (_scores, _offset, _row, experts, at) => {
          draw(uniform, experts, at);
          return 0;
        });
      },
    };
  },
});
