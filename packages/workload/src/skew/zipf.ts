/** Zipf: the expert in place i has a load in proportion to 1 / i^exponent. The same in every layer. */
import { z } from 'zod';
import { defineSkew } from './skew.js';

export const zipf = defineSkew({
  summary: 'load falls with the place in the order of popularity, as 1 / place^exponent',
  options: z.strictObject({
    kind: z.literal('zipf').describe('what popularity is drawn from'),
    exponent: z.number().min(0).max(10).default(1).describe('0 is uniform'),
  }),
  popularity: (site, { exponent }) => ({
    kind: 'loads',
    values: Float64Array.from({ length: site.expertCount }, (_, place) => (place + 1) ** -exponent),
  }),
  describe: ({ exponent }) => `Zipf popularity with exponent ${exponent}`,
});
