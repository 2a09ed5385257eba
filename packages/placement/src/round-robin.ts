/**
 * Experts dealt to ranks in turn: expert e on rank e mod R while every rank has room.
 * Spreads neighbours, which in many models are trained to be used together, over all ranks.
 */
import { z } from 'zod';
import { deal, inOrder } from './deal.js';
import type { PlacementPolicy } from './policy.js';
import { checkInput, slotOffsetsOf } from './slots.js';

export const roundRobin: PlacementPolicy = {
  summary: 'experts dealt to ranks in turn, redundant slots in further rounds',
  options: z.strictObject({}),
  place(input) {
    checkInput(input);
    return deal(input.slotsPerRank, slotsInTurn(input.slotsPerRank), inOrder(input.loads.length));
  },
};

/** The first slot of every rank, then the second of every rank that has one, and so on, [slotCount]. */
function slotsInTurn(slotsPerRank: Int32Array): Int32Array {
  const offsets = slotOffsetsOf(slotsPerRank);
  const order = new Int32Array(offsets[slotsPerRank.length]);
  let filled = 0;
  for (let position = 0; filled < order.length; position++) {
    for (let rank = 0; rank < slotsPerRank.length; rank++) {
      if (position < slotsPerRank[rank]) order[filled++] = offsets[rank] + position;
    }
  }
  return order;
}
