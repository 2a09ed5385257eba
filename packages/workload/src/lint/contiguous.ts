/**
 * The placement that outcomes and lint are measured with: experts in order, each rank a run of them, and where
 * the division leaves a remainder the first ranks one more.
 */

/** Rank that holds `expert`. Needs rankCount <= expertCount for every rank to hold one. */
export function contiguousRank(expert: number, expertCount: number, rankCount: number): number {
  const small = Math.floor(expertCount / rankCount);
  const larger = expertCount % rankCount;
  const inLarger = larger * (small + 1);
  return expert < inLarger
    ? Math.floor(expert / (small + 1))
    : larger + Math.floor((expert - inLarger) / small);
}
