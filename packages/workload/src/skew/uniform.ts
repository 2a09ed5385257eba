/** Every expert equally popular: loads differ by sampling alone. */
import { z } from 'zod';
import { defineSkew } from './skew.js';

export const uniform = defineSkew({
  summary: 'every expert equally popular',
  options: z.strictObject({ kind: z.literal('uniform').describe('what popularity is drawn from') }),
  popularity: (site) => ({ kind: 'offsets', values: new Float64Array(site.expertCount) }),
  describe: () => 'every expert is equally popular',
});
