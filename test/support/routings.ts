/** Small shapes, routings and placements for property tests. */
import { NO_EXPERT, type Placement, type Routing, randomSource } from '@epsim/spec';

export interface SmallShape {
  readonly rankCount: number;
  readonly tokensPerRank: number;
  readonly expertCount: number;
  readonly topK: number;
  readonly seed: number;
}

/** A routing with distinct experts per token; `holes` leaves some choices out, as dropping policies do. */
export function someRouting(shape: SmallShape, holes = false): Routing {
  const { rankCount, tokensPerRank, expertCount, topK, seed } = shape;
  const random = randomSource(seed, 'test routing');
  const tokens = rankCount * tokensPerRank;
  const experts = new Int32Array(tokens * topK);
  const weights = new Float32Array(tokens * topK);
  let made = 0;
  for (let token = 0; token < tokens; token++) {
    const pool = Array.from({ length: expertCount }, (_, e) => e);
    for (let k = 0; k < topK; k++) {
      const at = Math.floor(random.uniform() * pool.length);
      const drop = holes && random.uniform() < 0.2;
      experts[token * topK + k] = drop ? NO_EXPERT : pool[at];
      weights[token * topK + k] = drop ? 0 : 0.1 + random.uniform();
      if (!drop) made++;
      pool.splice(at, 1);
    }
  }
  const tokenOffsets = Int32Array.from({ length: rankCount + 1 }, (_, r) => r * tokensPerRank);
  return {
    expertCount,
    topK,
    width: topK,
    tokenOffsets,
    experts,
    weights,
    droppedChoices: tokens * topK - made,
  };
}

/** Each expert once, and `spare` more slots per rank that hold random experts. */
export function somePlacement(shape: SmallShape, spare = 0): Placement {
  const { rankCount, expertCount, seed } = shape;
  const random = randomSource(seed, 'test placement');
  const slotOffsets = new Int32Array(rankCount + 1);
  const slots: number[] = [];
  for (let rank = 0; rank < rankCount; rank++) {
    for (let e = rank; e < expertCount; e += rankCount) slots.push(e);
    for (let i = 0; i < spare; i++) slots.push(Math.floor(random.uniform() * expertCount));
    slotOffsets[rank + 1] = slots.length;
  }
  return { rankCount, expertCount, slotOffsets, slotExpert: Int32Array.from(slots) };
}
