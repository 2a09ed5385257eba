/**
 * Log-normal popularity: the offset of an expert's score is normal with standard deviation `sigma`, in units of
 * the noise between tokens. 0 is uniform; with K3's 896 experts and top-16, 0.5 makes the busiest expert about
 * twelve times the mean.
 */
import { z } from 'zod';
import { defineSkew, descending } from './skew.js';

export const logNormal = defineSkew({
  summary: 'score offsets of experts are normal with standard deviation sigma',
  options: z.strictObject({
    kind: z.literal('log-normal').describe('what popularity is drawn from'),
    sigma: z.number().min(0).max(4).default(0.5).describe('spread of the offsets over the noise of tokens'),
  }),
  popularity: (site, { sigma }) => ({
    kind: 'offsets',
    values: descending(Float64Array.from({ length: site.expertCount }, () => sigma * site.random.normal())),
  }),
  describe: ({ sigma }) =>
    `log-normal popularity: score offsets with standard deviation ${sigma} of the noise`,
});
