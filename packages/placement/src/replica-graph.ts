/**
 * Which rank a redundant slot copies an expert from: the graphs along which a batch can be evened out.
 * The one idea: an edge from rank o to rank r lets choices move between them, and a regular graph of small
 * degree is enough, since surplus travels over several edges (LPLB, github.com/deepseek-ai/LPLB).
 * Ranks beyond the last whole copy of a graph form a ring of their own.
 */

export const replicaGraphs = ['cube', 'ring', 'hypercube', 'torus'] as const;
export type ReplicaGraph = (typeof replicaGraphs)[number];

/** Source of each redundant slot of each rank of one group, [degree][groupSize]. */
type Columns = readonly (readonly number[])[];

// Two faces of a cube as rings, and its body diagonals.
const CUBE: Columns = [
  [3, 0, 1, 2, 7, 4, 5, 6],
  [6, 7, 4, 5, 0, 1, 2, 3],
];
// Four squares as rings, joined to a ring of squares: the edges of a hypercube of 16.
const HYPERCUBE: Columns = [
  [3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14],
  [12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
];
const RING_SIZE = 8;

/**
 * The rank whose expert the `nth` redundant slot of `rank` copies; -1 where the graph has no such edge.
 * Slots beyond the degree of the graph begin again at its first column.
 */
export function sourceRank(
  graph: ReplicaGraph,
  rank: number,
  nth: number,
  rankCount: number,
  domainRanks: number,
): number {
  const columns = columnsOf(graph, rankCount, domainRanks);
  const size = columns[0].length;
  const first = Math.floor(rank / size) * size;
  if (first + size <= rankCount) return first + columns[nth % columns.length][rank - first];
  const rest = rankCount - first;
  return rest > 1 ? first + ((rank - first + 1) % rest) : -1;
}

function columnsOf(graph: ReplicaGraph, rankCount: number, domainRanks: number): Columns {
  if (graph === 'cube') return CUBE;
  if (graph === 'hypercube') return HYPERCUBE;
  if (graph === 'ring') return [ring(RING_SIZE)];
  return torus(rankCount, domainRanks);
}

function ring(size: number): number[] {
  return Array.from({ length: size }, (_, rank) => (rank + 1) % size);
}

/** Rows of ranks that are close, joined to the next row: one edge within the row, one across. */
function torus(rankCount: number, domainRanks: number): Columns {
  let width = domainRanks;
  if (rankCount % width !== 0 || width === rankCount || width === 1) {
    width = Math.floor(Math.sqrt(rankCount));
    while (rankCount % width !== 0) width--;
  }
  const rows = rankCount / width;
  if (width === 1 || rows === 1) return [ring(rankCount)];
  const ranks = Array.from({ length: rankCount }, (_, rank) => rank);
  return [
    ranks.map((rank) => (rank + width) % rankCount),
    ranks.map((rank) => Math.floor(rank / width) * width + ((rank + 1) % width)),
  ];
}
