/**
 * How many ranks a token touches when its experts are drawn at random: the closed form behind the saving of
 * sending a row once per rank. Source: inclusion of at least one of m = E / R experts among k draws without
 * replacement, R (1 - C(E - m, k) / C(E, k)).
 */

/** Expected distinct ranks per token under uniform routing; experts are spread evenly over ranks. */
export function expectedDistinctRanks(expertCount: number, topK: number, rankCount: number): number {
  const perRank = expertCount / rankCount;
  let missed = 1;
  for (let i = 0; i < topK; i++) missed *= Math.max(0, expertCount - perRank - i) / (expertCount - i);
  return rankCount * (1 - missed);
}
