/**
 * Sinkhorn balancing: scale the rows and columns of exp(logit / temperature) in turn until every token spends one and
 * every expert receives the same, then take the k largest of each row. Only the k largest are used, so their loads are
 * near even and not even. Row scales do not change a row's order, so all that is kept is one number per expert.
 * Solved anew for each batch: it reads the batch iterations + 2 times and needs all of it before the first row.
 * Source: Clark et al., arXiv 2202.01169; Megatron-LM's sinkhorn load balancing.
 */
import type { TokenBatch } from '@epsim/spec';
import { z } from 'zod';
import { createRoutingArena } from '../arena.js';
import { definePolicy } from '../policy.js';
import { forEachRow, routeRows, rowCountOf } from '../route-rows.js';
import { expRow } from '../scoring.js';
import { createSelector } from '../select.js';

export const sinkhorn = definePolicy({
  summary: "optimal transport between the batch's tokens and experts, then the k largest of each token",
  options: z.strictObject({
    iterations: z.int().min(1).max(200).default(4).describe('times that rows and columns are scaled'),
    temperature: z.number().positive().default(1).describe('logits are divided by it'),
  }),
  create(context, { iterations, temperature }) {
    const { expertCount, topK } = context;
    const arena = context.arena ?? createRoutingArena();
    const selector = createSelector(expertCount, topK);
    const scales = new Float64Array(expertCount);
    const received = new Float64Array(expertCount);
    const logScales = new Float32Array(expertCount);

    /** One scaling of rows, then of columns. */
    function scaleOnce(batch: TokenBatch): void {
      received.fill(0);
      const tokens = forEachRow(context, arena, batch, null, (values, offset) => {
        expRow(values, offset, expertCount, temperature);
        let sum = 0;
        for (let e = 0; e < expertCount; e++) sum += values[offset + e] * scales[e];
        const rowScale = 1 / sum;
        for (let e = 0; e < expertCount; e++) received[e] += values[offset + e] * rowScale;
      });
      const share = tokens / expertCount;
      // An expert whose every probability vanished keeps its scale: no finite one would bring it tokens.
      for (let e = 0; e < expertCount; e++) if (received[e] > 0) scales[e] = share / received[e];
    }

    return {
      bias: null,
      route(batch) {
        scales.fill(1);
        for (let i = 0; i < iterations; i++) scaleOnce(batch);
        for (let e = 0; e < expertCount; e++) logScales[e] = temperature * Math.log(scales[e]);
        const chosen = arena.i32('sinkhorn choices', rowCountOf(batch) * topK);
        forEachRow(context, arena, batch, null, (logits, offset, row) => {
          selector.select(logits, offset, logScales);
          chosen.set(selector.ids, row * topK);
        });
        return routeRows(context, arena, batch, topK, (_scores, _offset, row, experts, at) => {
          for (let i = 0; i < topK; i++) experts[at + i] = chosen[row * topK + i];
          return 0;
        });
      },
    };
  },
});
