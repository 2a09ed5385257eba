/**
 * Auxiliary-loss-free balancing: after each step the bias of an overloaded expert moves down and that of an
 * underloaded one up, by a fixed step or in proportion to the error.
 * Sources: arXiv 2408.15664; Megatron-LM get_updated_expert_bias (b += u sign(mean - load), u = 1e-3 as DeepSeek-V3).
 */
import { z } from 'zod';
import { createRoutingArena } from '../arena.js';
import { moveBias, startingBias } from '../bias.js';
import { definePolicy } from '../policy.js';
import { countLoads, routeRows } from '../route-rows.js';
import { createSelector } from '../select.js';

export const signBias = definePolicy({
  summary: 'auxiliary-loss-free: each bias moves by a small step against the error of its load',
  options: z.strictObject({
    stepSize: z.number().positive().default(1e-3).describe('u, in units of score'),
    form: z
      .enum(['sign', 'magnitude'])
      .default('sign')
      .describe('sign: u sign(mean - load); magnitude: u (mean - load) / mean'),
  }),
  create(context, { stepSize, form }) {
    const { expertCount, topK } = context;
    const arena = context.arena ?? createRoutingArena();
    const bias = startingBias(context);
    const next = new Float64Array(expertCount);
    const loads = new Int32Array(expertCount);
    const selector = createSelector(expertCount, topK);
    return {
      bias,
      route(batch) {
        const result = routeRows(context, arena, batch, topK, (scores, offset, _row, experts, at) => {
          selector.select(scores, offset, bias);
          experts.set(selector.ids, at);
          return 0;
        });
        const made = result.routing.experts.length - result.routing.droppedChoices;
        const mean = made / expertCount;
        countLoads(result.routing, loads);
        for (let expert = 0; expert < expertCount; expert++) {
          const error = mean > 0 ? (mean - loads[expert]) / mean : 0;
          next[expert] = bias[expert] + stepSize * (form === 'sign' ? Math.sign(error) : error);
        }
        return { ...result, stats: { ...result.stats, biasDrift: moveBias(bias, next) } };
      },
    };
  },
});
