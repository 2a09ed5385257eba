/**
 * Where everything lies in a shard's memory, in bytes from its start.
 * Weights lie first and keep their place for a whole run; regions for rows follow and are laid again for every
 * layer from its plan, so memory is touched once and reused.
 */
import { packedBytes, type RowFormat, rowBytes } from '@epsim/tensor';
import { type CarriedModel, carriedMatrix } from './carried-model.js';

/** What a shard is for: the ranks [firstRank, firstRank + slotCounts.length) of a run. */
export interface ShardSpec {
  readonly shard: number;
  readonly model: CarriedModel;
  readonly rankCount: number;
  readonly firstRank: number;
  /** Slots of each of its ranks. */
  readonly slotCounts: readonly number[];
  readonly dispatchFormat: RowFormat;
  readonly combineFormat: RowFormat;
}

/** Rows that one rank of the shard handles in a layer: own tokens, rows it sends, rows that reach it. */
export interface RankRows {
  readonly tokens: number;
  readonly sent: number;
  readonly received: number;
}

/** Rows that one pass over an expert or a projection works on; bounds the scratch space. */
export const ROWS_PER_PASS = 64;

export interface ShardLayout {
  readonly down: number;
  readonly up: number;
  readonly sharedIn: number;
  readonly sharedOut: number;
  /** Matrices of local slot g, counted over the shard's ranks in order, at expertIn + g * expertStride. */
  readonly expertIn: number;
  readonly expertOut: number;
  readonly expertStride: number;
  /** Gain of the latent norm, [width], all ones. */
  readonly gain: number;
  /** Per rank of the shard: arrived rows, returned rows, results [tokens x hidden], latents [tokens x width]. */
  readonly recv: readonly number[];
  readonly reply: readonly number[];
  readonly output: readonly number[];
  readonly latents: readonly number[];
  /** Per rank: sums that go back, one row per arrived row, [arrived rows x width]. */
  readonly sums: readonly number[];
  /** Scratch of ROWS_PER_PASS rows each: hidden, width, both branches, one branch; and one block of encoded rows. */
  readonly hiddenRows: number;
  readonly widthRows: number;
  readonly widthRows2: number;
  readonly branchRows: number;
  readonly innerRows: number;
  readonly block: number;
  readonly bytes: number;
}

const ALIGN = 64;

/** Lays out one shard for one layer. Throws RangeError when it needs more than the 4 GiB of one memory. */
export function shardLayout(spec: ShardSpec, rows: readonly RankRows[]): ShardLayout {
  let next = ALIGN;
  const take = (bytes: number) => {
    const at = next;
    next = Math.ceil((next + bytes) / ALIGN) * ALIGN;
    return at;
  };
  const { model } = spec;
  const matrix = (name: Parameters<typeof carriedMatrix>[1]) => {
    const { fanIn, fanOut } = carriedMatrix(model, name, 0);
    return packedBytes('bf16', fanIn, fanOut);
  };
  const down = take(model.latent ? matrix('down') : 0);
  const up = take(model.latent ? matrix('up') : 0);
  const sharedIn = take(matrix('sharedIn'));
  const sharedOut = take(matrix('sharedOut'));
  const inBytes = Math.ceil(matrix('expertIn') / ALIGN) * ALIGN;
  const expertStride = inBytes + Math.ceil(matrix('expertOut') / ALIGN) * ALIGN;
  const slotCount = spec.slotCounts.reduce((a, b) => a + b, 0);
  const expertIn = take(slotCount * expertStride);
  const gain = take(model.expertWidth * 4);

  const inner = Math.max(model.innerSize, model.sharedInnerSize);
  const hiddenRows = take(ROWS_PER_PASS * model.hiddenSize * 4);
  const widthRows = take(ROWS_PER_PASS * model.expertWidth * 4);
  const widthRows2 = take(ROWS_PER_PASS * model.expertWidth * 4);
  const branchRows = take(ROWS_PER_PASS * 2 * inner * 4);
  const innerRows = take(ROWS_PER_PASS * inner * 4);

  const outBytes = rowBytes(spec.dispatchFormat, model.expertWidth);
  const backBytes = rowBytes(spec.combineFormat, model.expertWidth);
  const recv = rows.map((r) => take(r.received * outBytes));
  const reply = rows.map((r) => take(r.sent * backBytes));
  const latents = rows.map((r) => take(r.tokens * model.expertWidth * 4));
  const output = rows.map((r) => take(r.tokens * model.hiddenSize * 4));
  const sums = rows.map((r) => take(r.received * model.expertWidth * 4));
  const longest = Math.max(0, ...rows.map((r) => Math.max(r.received, r.sent)));
  const block = take(longest * Math.max(outBytes, backBytes));
  if (next > 2 ** 32) {
    throw new RangeError(
      `shard ${spec.shard} needs ${(next / 2 ** 30).toFixed(1)} GiB for ${slotCount} experts of inner size ${model.innerSize}, above the 4 GiB of one memory`,
    );
  }
  return {
    down,
    up,
    sharedIn,
    sharedOut,
    expertIn,
    expertOut: expertIn + inBytes,
    expertStride,
    gain,
    recv,
    reply,
    output,
    latents,
    sums,
    hiddenRows,
    widthRows,
    widthRows2,
    branchRows,
    innerRows,
    block,
    bytes: next,
  };
}
