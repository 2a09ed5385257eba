/**
 * Hash routing: a token's experts follow from what the token is and never change, nothing is learned.
 * Batches carry no token ids, so a token is known by its row of logits: equal rows get equal experts, in any step.
 * Source of the idea: Roller et al., Hash Layers for Large Sparse Models, arXiv 2106.04426.
 */
import { seedFor } from '@epsim/spec';
import { z } from 'zod';
import { createRoutingArena } from '../arena.js';
import { createDistinctDraw } from '../draw.js';
import { definePolicy } from '../policy.js';
import { routeRows } from '../route-rows.js';

export const hash = definePolicy({
  summary: "k distinct experts by a hash of the token's scores: fixed, and blind to what they say",
  options: z.strictObject({}),
  create(context) {
    const arena = context.arena ?? createRoutingArena();
    const draw = createDistinctDraw(context.expertCount, context.topK);
    const start = seedFor(context.seed, 'hash', context.layer) | 0;
    const state = new Int32Array(1);
    /** Murmur-style counter stream: each call mixes the next multiple of an odd constant. */
    const uniform = () => {
      state[0] = (state[0] + 0x9e3779b9) | 0;
      return (mix(state[0]) >>> 0) * 2 ** -32;
    };
    return {
      bias: null,
      route(batch) {
        return routeRows(context, arena, batch, context.topK, (scores, offset, _row, experts, at) => {
          state[0] = hashRow(scores, offset, context.expertCount, start);
          draw(uniform, experts, at);
          return 0;
        });
      },
    };
  },
});

const float = new Float32Array(1);
const bits = new Int32Array(float.buffer);

/** One word that depends on every bit of a row of scores. */
function hashRow(scores: Float32Array, offset: number, expertCount: number, start: number): number {
  let word = start;
  for (let i = offset; i < offset + expertCount; i++) {
    float[0] = scores[i];
    word = Math.imul(word ^ bits[0], 0x01000193);
    word ^= word >>> 15;
  }
  return mix(word);
}

/** MurmurHash3's finaliser. */
function mix(word: number): number {
  let h = word;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
