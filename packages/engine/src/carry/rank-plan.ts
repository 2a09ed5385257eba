/**
 * One rank's share of a dispatch plan, as the lists that it works through: which rows to send where, which
 * arrive from whom, and which of them each of its slots computes.
 * Order is fixed by the plan (source rank, then token, then choice), never by arrival.
 */
import { type DispatchPlan, NO_EXPERT } from '@epsim/spec';

export interface RankPlan {
  readonly rank: number;
  /** Rows to rank d are sendTokens[sendOffsets[d] .. sendOffsets[d + 1]]: own tokens, counted from 0. */
  readonly sendOffsets: Int32Array;
  readonly sendTokens: Int32Array;
  readonly tokenCount: number;
  /** Rows from rank s arrive at recvOffsets[s] .. recvOffsets[s + 1], [rankCount + 1]. */
  readonly recvOffsets: Int32Array;
  /** Choices of own slot g are at groupOffsets[g] .. groupOffsets[g + 1], [slots of the rank + 1]. */
  readonly groupOffsets: Int32Array;
  /** Arrived row that each choice reads, and the gate weight of its result. */
  readonly groupRows: Int32Array;
  readonly groupWeights: Float32Array;
}

/**
 * Splits a plan of kind `per-expert` (`perChoice`: a row for each choice) or `per-rank` (a row goes once to each
 * rank and is read there by every choice that needs it) into one RankPlan per rank.
 */
export function rankPlans(plan: DispatchPlan, rankOfSlot: Int32Array, perChoice: boolean): RankPlan[] {
  const { rankCount, routing, placement } = plan;
  const { tokenOffsets } = routing;
  const pairs = plan.rowsPerPair;
  const prefix = (rowOf: (other: number) => number) => {
    const offsets = new Int32Array(rankCount + 1);
    for (let other = 0; other < rankCount; other++) offsets[other + 1] = offsets[other] + rowOf(other);
    return offsets;
  };
  const out: RankPlan[] = [];
  for (let rank = 0; rank < rankCount; rank++) {
    const sendOffsets = prefix((to) => pairs[rank * rankCount + to]);
    const groupOffsets = new Int32Array(placement.slotOffsets[rank + 1] - placement.slotOffsets[rank] + 1);
    for (let g = 0; g + 1 < groupOffsets.length; g++) {
      groupOffsets[g + 1] = groupOffsets[g] + plan.tokensPerSlot[placement.slotOffsets[rank] + g];
    }
    const choices = groupOffsets[groupOffsets.length - 1];
    out.push({
      rank,
      tokenCount: tokenOffsets[rank + 1] - tokenOffsets[rank],
      sendOffsets,
      sendTokens: new Int32Array(sendOffsets[rankCount]),
      recvOffsets: prefix((from) => pairs[from * rankCount + rank]),
      groupOffsets,
      groupRows: new Int32Array(choices),
      groupWeights: new Float32Array(choices),
    });
  }
  fillRankPlans(plan, rankOfSlot, perChoice, out);
  return out;
}

function fillRankPlans(
  plan: DispatchPlan,
  rankOfSlot: Int32Array,
  perChoice: boolean,
  out: RankPlan[],
): void {
  const { rankCount, routing, placement, slotOfChoice } = plan;
  const { tokenOffsets, width, weights } = routing;
  const nextGroup = out.map((p) => p.groupOffsets.slice());
  for (let from = 0; from < rankCount; from++) {
    const nextRow = new Int32Array(rankCount);
    const lastToken = new Int32Array(rankCount).fill(-1);
    for (let token = tokenOffsets[from]; token < tokenOffsets[from + 1]; token++) {
      for (let i = token * width; i < (token + 1) * width; i++) {
        const slot = slotOfChoice[i];
        if (slot === NO_EXPERT) continue;
        const to = rankOfSlot[slot];
        if (perChoice || lastToken[to] !== token) {
          lastToken[to] = token;
          out[from].sendTokens[out[from].sendOffsets[to] + nextRow[to]++] = token - tokenOffsets[from];
        }
        const at = nextGroup[to][slot - placement.slotOffsets[to]]++;
        out[to].groupRows[at] = out[to].recvOffsets[from] + nextRow[to] - 1;
        out[to].groupWeights[at] = weights[i];
      }
    }
  }
}
