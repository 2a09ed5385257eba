/**
 * Whether a width may be cut over tensor-parallel ranks when its scales come in blocks.
 * The one idea: a cut is legal when each part holds whole blocks; otherwise padding has a price.
 */

export interface BlockShard {
  /** Width of one part before padding. */
  readonly sizePerRank: number;
  /** True when the parts are whole and hold whole blocks: nothing to pad. */
  readonly legal: boolean;
  /** Width of one part rounded up to whole blocks. */
  readonly paddedSize: number;
  /** Extra width over the unpadded part: 736 of 720 is 0.0222. */
  readonly overhead: number;
}

/** Cuts `size` columns into `ways` parts of whole blocks of `block` columns (1 when there are no blocks). */
export function shardByBlocks(size: number, ways: number, block: number): BlockShard {
  if (size < 1 || ways < 1 || block < 1) {
    throw new RangeError(
      `shardByBlocks: size ${size}, ways ${ways} and block ${block} must all be at least 1`,
    );
  }
  const sizePerRank = size / ways;
  const paddedSize = Math.ceil(sizePerRank / block) * block;
  return {
    sizePerRank,
    legal: paddedSize === sizePerRank,
    paddedSize,
    overhead: paddedSize / sizePerRank - 1,
  };
}
