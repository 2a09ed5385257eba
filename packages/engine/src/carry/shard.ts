/**
 * What a shard does for its ranks: load weights, send rows, run experts on what arrived, and combine what
 * came back. The real arithmetic of a Stable LatentMoE layer, a few ranks at a time.
 * Every sum has an order fixed by the plan, so results do not depend on who runs what when.
 * Knows nothing about threads or processes; rows leave through a RowPort.
 */
import { type Kernel, rowBytes, weightsInto } from '@epsim/tensor';
import { carriedMatrix, hiddenSeed, type MatrixName } from './carried-model.js';
import type { RankPlan } from './rank-plan.js';
import type { Leg, RowPort } from './row-port.js';
import { ROWS_PER_PASS, type ShardLayout, type ShardSpec } from './shard-layout.js';

export interface ShardContext {
  readonly spec: ShardSpec;
  readonly layout: ShardLayout;
  readonly kernel: Kernel;
  /** Hidden states of each rank's tokens, [tokens x hiddenSize]; absent where they are made from the seed. */
  readonly hidden?: readonly Float32Array[];
}

/** Fills the layer's weights: the shard's copy of the projections and shared experts, and each slot's expert. */
export function loadWeights(context: ShardContext, layer: number, slotExpert: Int32Array): void {
  const { layout, spec } = context;
  const fill = (name: MatrixName, at: number, expert?: number) => {
    const { fanIn, fanOut, seed, scale } = carriedMatrix(spec.model, name, layer, expert);
    context.kernel.fillWeightsBf16(at, fanIn, fanOut, seed, scale);
  };
  if (spec.model.latent) {
    fill('down', layout.down);
    fill('up', layout.up);
  }
  if (spec.model.sharedInnerSize > 0) {
    fill('sharedIn', layout.sharedIn);
    fill('sharedOut', layout.sharedOut);
  }
  const { buffer } = context.kernel.memory;
  new Float32Array(buffer, layout.gain, spec.model.expertWidth).fill(1);
  for (let g = 0; g < slotExpert.length; g++) {
    if (slotExpert[g] < 0) continue;
    fill('expertIn', layout.expertIn + g * layout.expertStride, slotExpert[g]);
    fill('expertOut', layout.expertOut + g * layout.expertStride, slotExpert[g]);
  }
}

/** Projects each rank's hidden states into the latent and sends every row to the ranks that need it. */
export function dispatchRows(
  context: ShardContext,
  plans: readonly RankPlan[],
  step: number,
  layer: number,
  port: RowPort,
): void {
  const { spec, layout, kernel } = context;
  const { model } = spec;
  const width = model.expertWidth;
  plans.forEach((plan, local) => {
    const latents = layout.latents[local];
    const seed = hiddenSeed(model, step, layer, plan.rank);
    for (let first = 0; first < plan.tokenCount; first += ROWS_PER_PASS) {
      const count = Math.min(ROWS_PER_PASS, plan.tokenCount - first);
      const out = latents + first * width * 4;
      if (model.latent) {
        writeHidden(context, local, seed, first, count, layout.hiddenRows);
        kernel.gemmBf16({
          a: layout.hiddenRows,
          b: layout.down,
          c: out,
          m: count,
          k: model.hiddenSize,
          n: width,
        });
      } else {
        writeHidden(context, local, seed, first, count, out);
      }
    }
    for (let to = 0; to < spec.rankCount; to++) {
      const rows = plan.sendTokens.subarray(plan.sendOffsets[to], plan.sendOffsets[to + 1]);
      sendBlock(context, 'dispatch', plan.rank, to, rows, latents, port);
    }
  });
}

/** Runs every slot on its choices and returns, for each arrived row, the weighted sum of its experts' outputs. */
export function computeExperts(context: ShardContext, plans: readonly RankPlan[], port: RowPort): number {
  const { spec, layout, kernel } = context;
  const width = spec.model.expertWidth;
  const size = rowBytes(spec.dispatchFormat, width);
  let received = 0;
  let slot = 0;
  plans.forEach((plan, local) => {
    received += checkArrivals('dispatch', plan.recvOffsets, plan.rank, port) * size;
    const rows = plan.recvOffsets[spec.rankCount];
    const sums = layout.sums[local];
    new Float32Array(context.kernel.memory.buffer, sums, rows * width).fill(0);
    for (let g = 0; g + 1 < plan.groupOffsets.length; g++, slot++) {
      for (let first = plan.groupOffsets[g]; first < plan.groupOffsets[g + 1]; first += ROWS_PER_PASS) {
        const count = Math.min(ROWS_PER_PASS, plan.groupOffsets[g + 1] - first);
        for (let i = 0; i < count; i++) {
          const arrived = layout.recv[local] + plan.groupRows[first + i] * size;
          kernel.decodeRows(spec.dispatchFormat, arrived, layout.widthRows + i * width * 4, 1, width);
        }
        const at = slot * layout.expertStride;
        runFfn(context, layout.widthRows, layout.expertIn + at, layout.expertOut + at, layout.widthRows2, {
          rows: count,
          width,
          inner: spec.model.innerSize,
        });
        for (let i = 0; i < count; i++) {
          const sum = sums + plan.groupRows[first + i] * width * 4;
          kernel.axpy(sum, layout.widthRows2 + i * width * 4, width, plan.groupWeights[first + i]);
        }
      }
    }
    for (let to = 0; to < spec.rankCount; to++) {
      const first = plan.recvOffsets[to];
      const count = plan.recvOffsets[to + 1] - first;
      const indices = Int32Array.from({ length: count }, (_, i) => first + i);
      sendBlock(context, 'combine', plan.rank, to, indices, sums, port);
    }
  });
  return received;
}

/** Adds up what came back, in rank order, and finishes the layer: norm, up-projection, shared experts. */
export function combineRows(
  context: ShardContext,
  plans: readonly RankPlan[],
  step: number,
  layer: number,
  port: RowPort,
): number {
  const { spec, layout, kernel } = context;
  const width = spec.model.expertWidth;
  const size = rowBytes(spec.combineFormat, width);
  let received = 0;
  plans.forEach((plan, local) => {
    received += checkArrivals('combine', plan.sendOffsets, plan.rank, port) * size;
    const latents = layout.latents[local];
    new Float32Array(context.kernel.memory.buffer, latents, plan.tokenCount * width).fill(0);
    for (let i = 0; i < plan.sendTokens.length; i++) {
      kernel.decodeRows(spec.combineFormat, layout.reply[local] + i * size, layout.widthRows, 1, width);
      kernel.axpy(latents + plan.sendTokens[i] * width * 4, layout.widthRows, width, 1);
    }
    const seed = hiddenSeed(spec.model, step, layer, plan.rank);
    for (let first = 0; first < plan.tokenCount; first += ROWS_PER_PASS) {
      finishRows(context, local, first, Math.min(ROWS_PER_PASS, plan.tokenCount - first), seed);
    }
  });
  return received;
}

/** y = W_up RMSNorm(latent) + shared experts(x), for `count` tokens of one rank from `first`. */
function finishRows(context: ShardContext, local: number, first: number, count: number, seed: number): void {
  const { spec, layout, kernel } = context;
  const { hiddenSize, expertWidth: width, latent, latentNorm, sharedInnerSize } = spec.model;
  const latents = layout.latents[local] + first * width * 4;
  const output = layout.output[local] + first * hiddenSize * 4;
  if (latent) {
    if (latentNorm) kernel.rmsNorm(latents, layout.gain, latents, count, width, 1e-5);
    kernel.gemmBf16({ a: latents, b: layout.up, c: output, m: count, k: width, n: hiddenSize });
  } else {
    new Float32Array(context.kernel.memory.buffer).copyWithin(
      output / 4,
      latents / 4,
      latents / 4 + count * width,
    );
  }
  if (sharedInnerSize === 0) return;
  writeHidden(context, local, seed, first, count, layout.hiddenRows);
  const sizes = { rows: count, width: hiddenSize, inner: sharedInnerSize };
  runFfn(context, layout.hiddenRows, layout.sharedIn, layout.sharedOut, output, sizes, true);
}

/** One feed-forward network: in-projection of both branches, activation, out-projection (added when asked). */
function runFfn(
  context: ShardContext,
  input: number,
  inWeights: number,
  outWeights: number,
  output: number,
  sizes: { readonly rows: number; readonly width: number; readonly inner: number },
  accumulate = false,
): void {
  const { kernel, layout, spec } = context;
  const { rows, width, inner } = sizes;
  kernel.gemmBf16({ a: input, b: inWeights, c: layout.branchRows, m: rows, k: width, n: 2 * inner });
  const glu = { gate: layout.branchRows, up: layout.branchRows + inner * 4, out: layout.innerRows };
  kernel.glu(spec.model.glu, { ...glu, rows, width: inner, inStride: 2 * inner });
  kernel.gemmBf16({ a: layout.innerRows, b: outWeights, c: output, m: rows, k: inner, n: width, accumulate });
}

/** Writes `count` rows of one rank's hidden states from token `first`, [count x hiddenSize], at byte offset `at`. */
function writeHidden(
  context: ShardContext,
  local: number,
  seed: number,
  first: number,
  count: number,
  at: number,
): void {
  const { hiddenSize } = context.spec.model;
  const rows = new Float32Array(context.kernel.memory.buffer, at, count * hiddenSize);
  const given = context.hidden?.[local];
  if (given) rows.set(given.subarray(first * hiddenSize, (first + count) * hiddenSize));
  else weightsInto(rows, seed, first * hiddenSize);
}

/** Encodes the named rows of [rows x width] at `base` into one block and delivers it. */
function sendBlock(
  context: ShardContext,
  leg: Leg,
  from: number,
  to: number,
  rows: Int32Array,
  base: number,
  port: RowPort,
): void {
  if (rows.length === 0) return;
  const { spec, layout, kernel } = context;
  const width = spec.model.expertWidth;
  const format = leg === 'dispatch' ? spec.dispatchFormat : spec.combineFormat;
  const size = rowBytes(format, width);
  for (let i = 0; i < rows.length; i++) {
    kernel.encodeRows(format, base + rows[i] * width * 4, layout.block + i * size, 1, width);
  }
  port.deliver(leg, from, to, new Uint8Array(context.kernel.memory.buffer, layout.block, rows.length * size));
}

/** Every expected row is there, none twice; returns how many. */
function checkArrivals(leg: Leg, offsets: Int32Array, rank: number, port: RowPort): number {
  for (let from = 0; from + 1 < offsets.length; from++) {
    const expected = offsets[from + 1] - offsets[from];
    const arrived = port.arrivedRows(leg, from, rank);
    if (arrived !== expected) {
      throw new Error(`invariant: ${leg}: rank ${rank} has ${arrived} of ${expected} rows from rank ${from}`);
    }
  }
  return offsets[offsets.length - 1];
}
