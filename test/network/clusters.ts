/** Small clusters for the tests of this folder: round figures, so that closed forms can be read off. */
import type { ClusterSpec, LinkSpec, RankOverride } from '@epsim/spec';

const SOURCE = 'made up for tests';

export function linkSpec(bytesPerSec: number, latencyNs = 0, fraction = 1): LinkSpec {
  return {
    bytesPerSec,
    latencyNs,
    achieved: { fraction, source: SOURCE, provenance: 'derived' },
    source: SOURCE,
  };
}

export interface ClusterSketch {
  readonly kind?: string;
  readonly ranks: number;
  readonly domainRanks?: number;
  readonly scaleUp?: LinkSpec;
  readonly scaleOut?: LinkSpec | null;
  readonly options?: Record<string, unknown>;
  readonly overrides?: readonly RankOverride[];
}

/** Scale-up at 100 GB/s and scale-out at 10 GB/s unless said otherwise: 1 byte takes 0.01 and 0.1 ns. */
export function cluster(sketch: ClusterSketch): ClusterSpec {
  return {
    name: 'test',
    source: SOURCE,
    rankCount: sketch.ranks,
    device: { name: 'none', memoryBytes: 1, memoryBytesPerSec: 1, flopsPerSec: { bf16: 1 }, source: SOURCE },
    topology: {
      kind: sketch.kind ?? 'nvlink-domain',
      domainRanks: sketch.domainRanks ?? sketch.ranks,
      scaleUp: sketch.scaleUp ?? linkSpec(100e9),
      scaleOut: sketch.scaleOut === undefined ? linkSpec(10e9) : sketch.scaleOut,
      options: sketch.options ?? {},
    },
    overrides: sketch.overrides ?? [],
  };
}

/** Byte matrix of `ranks` ranks from a function of the pair; the diagonal is 0. */
export function matrix(ranks: number, bytes: (from: number, to: number) => number): Float64Array {
  return Float64Array.from({ length: ranks * ranks }, (_, pair) => {
    const from = Math.floor(pair / ranks);
    const to = pair % ranks;
    return from === to ? 0 : bytes(from, to);
  });
}
