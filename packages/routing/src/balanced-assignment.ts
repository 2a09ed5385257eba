/**
 * The balanced optimum of a batch: every token gets k distinct experts, every expert the same number of tokens, and
 * the chosen score mass is as large as that allows. Prices first, repair second: prices of experts from alternating
 * quantiles nearly balance top-k of score - price; the few choices that are over go where they lose least.
 * Not exact, but the linear program's dual at those prices bounds what is missing, and the bound is returned.
 * Knows nothing about routers.
 */
import { createGapHistogram } from './gap-histogram.js';
import { createSelector } from './select.js';
import { evenShares } from './shares.js';

const PRICE_ROUNDS = 12;
const BIN_COUNT = 4000;

export interface BalancedAssignment {
  /** Experts of each token, [tokens x topK]. Loads differ by at most one. */
  readonly experts: Int32Array;
  /** Score mass of the assignment. */
  readonly mass: number;
  /** No balanced assignment has more than this. */
  readonly massBound: number;
}

/**
 * Assigns `scores`, [tokens x expertCount], non-negative. Time is some 15 passes over the scores plus the repair.
 * `experts` receives the result, [tokens x topK].
 */
export function assignBalanced(
  scores: Float32Array,
  expertCount: number,
  topK: number,
  experts: Int32Array = new Int32Array((scores.length / expertCount) * topK),
): BalancedAssignment {
  const tokens = scores.length / expertCount;
  const bias = balancingBias(scores, expertCount, topK);
  const massBound = chooseAtPrices(scores, expertCount, topK, bias, experts);
  const room = sharesByPrice(tokens * topK, bias);
  repair(scores, expertCount, topK, experts, room);
  let mass = 0;
  for (let i = 0; i < experts.length; i++) {
    mass += scores[Math.floor(i / topK) * expertCount + experts[i]];
  }
  return { experts, mass, massBound };
}

/** Minus the prices at which top-k comes closest to balance, [expertCount]. */
function balancingBias(scores: Float32Array, expertCount: number, topK: number): Float32Array {
  const bias = new Float32Array(expertCount);
  if (topK === expertCount || scores.length === 0) return bias;
  let ceiling = 1;
  for (let i = 0; i < scores.length; i++) if (scores[i] > ceiling) ceiling = scores[i];
  const histogram = createGapHistogram(expertCount, topK / expertCount, undefined, BIN_COUNT);
  const selector = createSelector(expertCount, topK + 1);
  const next = new Float64Array(expertCount);
  for (let round = 0; round < PRICE_ROUNDS; round++) {
    histogram.begin(bias, ceiling);
    for (let at = 0; at < scores.length; at += expertCount) {
      selector.select(scores, at, bias);
      histogram.add(scores, at, selector.values[topK]);
    }
    histogram.endPass(next);
    bias.set(next);
  }
  return bias;
}

/**
 * Gives each token the k best of score + bias and returns the dual value at these prices: what tokens gain,
 * plus the price of every place. Places beyond the common share stand at the dearest experts.
 */
function chooseAtPrices(
  scores: Float32Array,
  expertCount: number,
  topK: number,
  bias: Float32Array,
  experts: Int32Array,
): number {
  const selector = createSelector(expertCount, topK);
  let dual = 0;
  for (let at = 0, to = 0; at < scores.length; at += expertCount, to += topK) {
    selector.select(scores, at, bias);
    experts.set(selector.ids, to);
    for (let i = 0; i < topK; i++) dual += selector.values[i];
  }
  const room = sharesByPrice(experts.length, bias);
  for (let expert = 0; expert < expertCount; expert++) dual -= room[expert] * bias[expert];
  return dual;
}

/** Even shares of `choices`, [expertCount]; what is left over goes to the experts with the highest price. */
function sharesByPrice(choices: number, bias: Float32Array): Int32Array {
  const shares = evenShares(choices, bias.length);
  const byPrice = Array.from(bias, (_, expert) => expert).sort((a, b) => bias[a] - bias[b] || a - b);
  const room = new Int32Array(bias.length);
  byPrice.forEach((expert, place) => {
    room[expert] = shares[place];
  });
  return room;
}

/**
 * Moves choices from experts that have more than their `room` to those that have less, cheapest moves first.
 * Every round makes at least one move: an expert that has more tokens than another has one that the other has not.
 */
function repair(
  scores: Float32Array,
  expertCount: number,
  topK: number,
  experts: Int32Array,
  room: Int32Array,
): void {
  const excess = new Int32Array(expertCount);
  for (const expert of experts) excess[expert]++;
  for (let expert = 0; expert < expertCount; expert++) excess[expert] -= room[expert];
  const moves: Moves = {
    choices: new Int32Array(experts.length),
    target: new Int32Array(experts.length),
    loss: new Float32Array(experts.length),
  };
  while (excess.some((e) => e > 0)) {
    for (const choice of cheapestMoves(scores, expertCount, topK, experts, excess, moves)) {
      const from = experts[choice];
      const to = moves.target[choice];
      const start = choice - (choice % topK);
      if (excess[from] <= 0 || excess[to] >= 0 || holds(experts, start, topK, to)) continue;
      experts[choice] = to;
      excess[from]--;
      excess[to]++;
    }
  }
}

/** Moves that a round may make. */
interface Moves {
  /** Choices that can move, [tokens x topK] at most. */
  readonly choices: Int32Array;
  /** Where each choice would go and the score that it would lose, [tokens x topK], set for those in `choices`. */
  readonly target: Int32Array;
  readonly loss: Float32Array;
}

/** Finds for each choice of an expert with excess its cheapest move to one with room; the choices, cheapest first. */
function cheapestMoves(
  scores: Float32Array,
  expertCount: number,
  topK: number,
  experts: Int32Array,
  excess: Int32Array,
  { choices, target, loss }: Moves,
): Int32Array {
  const open = Array.from(excess.keys()).filter((expert) => excess[expert] < 0);
  let count = 0;
  for (let start = 0, at = 0; start < experts.length; start += topK, at += expertCount) {
    let to = -1;
    for (const expert of open) {
      if (to >= 0 && scores[at + expert] <= scores[at + to]) continue;
      if (!holds(experts, start, topK, expert)) to = expert;
    }
    if (to < 0) continue;
    for (let choice = start; choice < start + topK; choice++) {
      if (excess[experts[choice]] <= 0) continue;
      target[choice] = to;
      loss[choice] = scores[at + experts[choice]] - scores[at + to];
      choices[count++] = choice;
    }
  }
  return choices.subarray(0, count).sort((a, b) => loss[a] - loss[b] || a - b);
}

function holds(experts: Int32Array, start: number, topK: number, expert: number): boolean {
  for (let i = start; i < start + topK; i++) if (experts[i] === expert) return true;
  return false;
}
