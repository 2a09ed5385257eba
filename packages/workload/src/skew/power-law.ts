/**
 * Power law, as the collectors of published expert benchmarks draw it (AIConfigurator, Apache-2.0):
 * x = [(xmax^(1-a) - 1) u + 1]^(1/(1-a)) with u uniform and xmax = 0.8 x tokens, then scaled to tokens x top-k.
 * Each layer draws its own. Their tables `power_law_1.01` and `power_law_1.2` are alpha 1.01 and 1.2.
 */
import { z } from 'zod';
import { defineSkew, descending } from './skew.js';

const LARGEST_SHARE_OF_TOKENS = 0.8;

export const powerLaw = defineSkew({
  summary: 'counts from a truncated power law with exponent alpha, as published collectors draw them',
  options: z.strictObject({
    kind: z.literal('power-law').describe('what popularity is drawn from'),
    alpha: z.number().min(0).max(10).default(1.01).describe('exponent; published tables use 1.01 and 1.2'),
  }),
  popularity: (site, { alpha }) => {
    const largestCount = Math.max(1, LARGEST_SHARE_OF_TOKENS * site.rankCount * site.tokensPerRank);
    const values = Float64Array.from({ length: site.expertCount }, () =>
      powerLawCount(site.random.uniform(), alpha, largestCount),
    );
    return { kind: 'loads', values: descending(values) };
  },
  describe: ({ alpha }) =>
    `power-law popularity with exponent ${alpha}, at most 0.8 of the tokens before scaling`,
});

/** Count between 1 and `largestCount` whose density falls as count^-alpha, from `u` uniform in [0, 1). */
function powerLawCount(u: number, alpha: number, largestCount: number): number {
  // At alpha = 1 the formula is 0/0; its limit is the log-uniform law.
  if (Math.abs(alpha - 1) < 1e-9) return largestCount ** u;
  return ((largestCount ** (1 - alpha) - 1) * u + 1) ** (1 / (1 - alpha));
}
