/**
 * What the followed token meets across the width: scores, a threshold, chosen experts, their ranks, bytes;
 * and how quantile balancing evens the load of a frozen batch of scores.
 * The same functions serve the miniature and a full-size plan; `source` tells them apart.
 */
import { chooseExperts, quantileBias } from '@epsim/model';
import type { BalancePart, SourceName, WidthPart } from '@epsim/report';
import type { DispatchPlan, ModelShape } from '@epsim/spec';
import { round, rounded, rowOf } from './numbers.js';

export interface WidthInput {
  readonly source: SourceName;
  readonly shape: ModelShape;
  readonly layer: number;
  /** [tokens x experts] and [experts] */
  readonly scores: Float32Array;
  readonly bias: Float32Array;
  readonly plan: DispatchPlan;
  readonly focus: number;
  readonly rowBytes: { readonly dispatch: number; readonly combine: number };
  readonly carriedBytes: number | null;
}

/** The rank whose block of `offsets` holds `index`. */
function blockOf(offsets: Int32Array, index: number): number {
  let block = 0;
  while (offsets[block + 1] <= index) block++;
  return block;
}

const total = (values: ArrayLike<number>) => Array.from(values).reduce((a, b) => a + b, 0);

export function widthPart(input: WidthInput): WidthPart {
  const { source, shape, layer, bias, plan, focus, rowBytes } = input;
  const { expertCount, topK, expertWidth } = shape.moe;
  const scores = rowOf(input.scores, focus, expertCount);
  const biased = scores.map((score, expert) => score + bias[expert]);
  const descending = Array.from(biased).sort((a, b) => b - a);
  const { routing, placement } = plan;
  const chosen = Array.from({ length: topK }, (_, place) => {
    const choice = focus * routing.width + place;
    const expert = routing.experts[choice];
    return {
      expert,
      score: round(scores[expert]),
      bias: round(bias[expert]),
      weight: round(routing.weights[choice]),
      rank: blockOf(placement.slotOffsets, plan.slotOfChoice[choice]),
    };
  });
  return {
    source,
    model: shape.name,
    layer,
    topK,
    biased: rounded(biased, 4),
    threshold: round(descending[topK - 1]),
    runnerUp: round(descending[topK]),
    chosen,
    rankCount: plan.rankCount,
    expertsPerRank: Math.ceil(expertCount / plan.rankCount),
    sourceRank: blockOf(routing.tokenOffsets, focus),
    rowElements: expertWidth,
    dispatchRowBytes: rowBytes.dispatch,
    combineRowBytes: rowBytes.combine,
    rows: new Set(chosen.map(({ rank }) => rank)).size,
    rowsPerChoice: topK,
    batchTokens: routing.tokenOffsets[plan.rankCount],
    batchBytes: total(plan.dispatchBytes) + total(plan.combineBytes),
    rowsPerPair: [...plan.rowsPerPair],
    carriedBytes: input.carriedBytes,
  };
}

/** Loads of a frozen batch without bias and after each of `rounds` rounds, and the last bias, [experts]. */
export function balanceRounds(
  scores: Float32Array,
  shape: ModelShape,
  rounds: number,
): { readonly rounds: BalancePart['rounds']; readonly bias: Float32Array } {
  const { expertCount, topK } = shape.moe;
  let bias: Float32Array = new Float32Array(expertCount);
  const out: BalancePart['rounds'][number][] = [];
  for (let round = 0; ; round++) {
    out.push(loadsOf(scores, bias, shape));
    if (round === rounds) return { rounds: out, bias };
    bias = quantileBias(scores, bias, topK);
  }
}

function loadsOf(scores: Float32Array, bias: Float32Array, shape: ModelShape): BalancePart['rounds'][number] {
  const { experts } = chooseExperts(scores, bias, shape.moe);
  const loads = new Array<number>(bias.length).fill(0);
  for (const expert of experts) loads[expert]++;
  const mean = experts.length / bias.length;
  return {
    maxVio: round(Math.max(...loads) / mean - 1, 4),
    starved: loads.filter((load) => load === 0).length,
    loads,
  };
}
