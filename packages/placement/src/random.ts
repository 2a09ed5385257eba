/**
 * Experts in random slots, the same for the same seed and layer. The baseline that shows what a policy adds.
 */
import { type RandomSource, randomSource } from '@epsim/spec';
import { z } from 'zod';
import { deal, inOrder } from './deal.js';
import { sumOf } from './loads.js';
import type { PlacementPolicy } from './policy.js';
import { checkInput } from './slots.js';

export const random: PlacementPolicy = {
  summary: 'experts in random slots, from the seed',
  options: z.strictObject({}),
  place(input) {
    checkInput(input);
    const source = randomSource(input.seed, 'placement', input.layer);
    const slotCount = sumOf(input.slotsPerRank);
    return deal(
      input.slotsPerRank,
      shuffled(inOrder(slotCount), source),
      shuffled(inOrder(input.loads.length), source),
    );
  },
};

/** Fisher and Yates, in place. The bias of scaling 2^32 values to a few thousand is below one in a million. */
function shuffled(values: Int32Array, source: RandomSource): Int32Array {
  for (let i = values.length - 1; i > 0; i--) {
    const j = Math.floor(source.uniform() * (i + 1));
    const value = values[i];
    values[i] = values[j];
    values[j] = value;
  }
  return values;
}
