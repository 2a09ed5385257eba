/**
 * Homes and redundant slots: which slots hold every expert once, and which are left for replicas.
 * The one idea: redundant slots are spread evenly over the ranks, so that every rank can help.
 */
import { sumOf } from './loads.js';

/**
 * Slots of each rank that hold an expert's home, [rankCount], `expertCount` in all; the rest of
 * `slotsPerRank` is redundant. There must be at least as many slots as experts.
 */
export function homesPerRank(slotsPerRank: Int32Array, expertCount: number): Int32Array {
  let spare = sumOf(slotsPerRank) - expertCount;
  const homes = slotsPerRank.slice();
  // A rank with fewer slots than its share gives all it has, and the others share what is left.
  while (spare > 0) {
    const round = spare;
    const givers = [...homes.keys()].filter((rank) => homes[rank] > 0);
    givers.forEach((rank, i) => {
      const upTo = (n: number) => Math.floor((n * round) / givers.length);
      const given = Math.min(upTo(i + 1) - upTo(i), homes[rank]);
      homes[rank] -= given;
      spare -= given;
    });
  }
  return homes;
}
