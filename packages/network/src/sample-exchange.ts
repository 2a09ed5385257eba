/**
 * An uneven exchange of any size, for benchmarks: no two pairs alike, some receivers hotter than others.
 * Needs no seed: the golden ratio spreads values evenly, and the same call gives the same bytes.
 */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** Byte matrix, [rankCount x rankCount], with about `meanBytes` per pair; the diagonal is 0. */
export function unevenExchange(rankCount: number, meanBytes: number): Float64Array {
  const bytes = new Float64Array(rankCount * rankCount);
  for (let from = 0; from < rankCount; from++) {
    for (let to = 0; to < rankCount; to++) {
      if (from === to) continue;
      const heat = 0.9 + 0.2 * ((to * GOLDEN) % 1);
      const spread = 0.5 + ((from * Math.SQRT2 + to * to * GOLDEN) % 1);
      bytes[from * rankCount + to] = meanBytes * heat * spread;
    }
  }
  return bytes;
}
