/**
 * Experts in order, slot after slot: expert 0 in slot 0, and round again for redundant slots.
 * It is how engines start before they have statistics ("trivial" in SGLang, the linear map of vLLM).
 */
import { z } from 'zod';
import { deal, inOrder } from './deal.js';
import { sumOf } from './loads.js';
import type { PlacementPolicy } from './policy.js';
import { checkInput } from './slots.js';

export const contiguous: PlacementPolicy = {
  summary: 'experts in order, slot after slot; redundant slots begin again at expert 0',
  options: z.strictObject({}),
  place(input) {
    checkInput(input);
    const slotCount = sumOf(input.slotsPerRank);
    return deal(input.slotsPerRank, inOrder(slotCount), inOrder(input.loads.length));
  },
};
