/**
 * Carries dispatch plans: lays out the shards of a layer, has a fabric move and compute it, and compares what comes
 * out with the single-process reference.
 */
import type { DispatchPlan } from '@epsim/spec';
import { type RowFormat, rowBytes } from '@epsim/tensor';
import { type ShardPool, TransportError } from '@epsim/transport';
import { slotsByExpert } from '../plan/choose-slots.js';
import type { CarriedModel } from './carried-model.js';
import type { CarriedLayer, LayerWork, ShardFabric, ShardPart } from './fabric.js';
import { localFabric } from './local-fabric.js';
import { type RankPlan, rankPlans } from './rank-plan.js';
import { createReference, type Reference } from './reference.js';
import { type RankRows, type ShardSpec, shardLayout } from './shard-layout.js';

export interface CarryOptions {
  readonly model: CarriedModel;
  readonly rankCount: number;
  readonly tokensPerRank: number;
  /** Shards that share out the ranks of the next layer; more than one worker needs more than one. */
  readonly shardCount: () => number;
  readonly dispatchFormat: RowFormat;
  readonly combineFormat: RowFormat;
  readonly perChoice: boolean;
  readonly topK: number;
}

export interface CarryResult {
  readonly tokens: number;
  /** Null where the result was not compared. */
  readonly maxAbsError: number | null;
  readonly maxRelError: number | null;
  readonly receivedBytes: number;
  /** Hash of the bits of the result, tokens in rank order. */
  readonly outputHash: string;
}

/**
 * Largest error over the largest |reference| that rounding alone explains, by the coarser of the two formats.
 * FP32 leaves the order of sums; the others are a few units of their last place on rows that are summed.
 */
export const errorTolerance: Readonly<Record<RowFormat, number>> = {
  fp32: 1e-4,
  bf16: 2e-2,
  fp8: 1.5e-1,
  mxfp8: 1.5e-1,
  mxfp4: 6e-1,
};

export class CarrySession {
  private readonly fabric: ShardFabric;
  private reference: Reference | null = null;

  /** Shards are reached through a fabric, or through a pool of those that share memory with the session. */
  constructor(
    private readonly options: CarryOptions,
    reach: ShardFabric | ShardPool,
  ) {
    this.fabric = 'callAll' in reach ? localFabric(reach) : reach;
  }

  /**
   * Moves and computes one layer, and compares the result with the reference when `check` says so: that takes this
   * thread as long as all shards together. Throws TransportError when a shard fails, and an `invariant:` error when
   * the bytes that arrived are not the plan's or the result is not the reference's.
   */
  async carry(plan: DispatchPlan, step: number, layer: number, check = true): Promise<CarryResult> {
    const moving = this.move(plan, this.layOut(plan, step, layer));
    moving.catch(() => {});
    const errors = check
      ? await this.compare(plan, step, layer, moving)
      : { maxAbsError: null, maxRelError: null };
    const carried = await moving;
    let hash = 0x811c9dc5;
    for (let rank = 0; rank < plan.rankCount; rank++) hash = hashBits(hash, carried.output(rank));
    return {
      ...{ tokens: plan.routing.tokenOffsets[plan.rankCount], ...errors },
      ...{ receivedBytes: carried.receivedBytes, outputHash: (hash >>> 0).toString(16).padStart(8, '0') },
    };
  }

  /** Computes the reference of a layer that is on its way, and how far the result is from it. */
  private async compare(
    plan: DispatchPlan,
    step: number,
    layer: number,
    moving: Promise<CarriedLayer>,
  ): Promise<Pick<CarryResult, 'maxAbsError' | 'maxRelError'>> {
    const { model, dispatchFormat, combineFormat } = this.options;
    // Shards load their weights meanwhile; this thread would only wait for them.
    this.reference ??= createReference(
      this.options.model,
      this.options.rankCount * this.options.tokensPerRank,
    );
    const expected = await this.reference.layer(plan.routing, step, layer);
    const carried = await moving;
    let maxAbsError = 0;
    let largest = 0;
    for (let rank = 0; rank < plan.rankCount; rank++) {
      const got = carried.output(rank);
      const base = plan.routing.tokenOffsets[rank] * model.hiddenSize;
      for (let i = 0; i < got.length; i++) {
        const error = Math.abs(got[i] - expected[base + i]);
        // A NaN anywhere must fail, not vanish in a comparison.
        if (!(error <= maxAbsError)) maxAbsError = error;
        largest = Math.max(largest, Math.abs(expected[base + i]));
      }
    }
    const maxRelError = largest === 0 ? maxAbsError : maxAbsError / largest;
    const tolerance = Math.max(errorTolerance[dispatchFormat], errorTolerance[combineFormat]);
    if (!(maxRelError <= tolerance)) {
      throw new Error(
        `invariant: layer ${layer} of step ${step} differs from the single-process reference by ${maxRelError} of its largest value; ${tolerance} is allowed`,
      );
    }
    return { maxAbsError, maxRelError };
  }

  /**
   * Moves and computes one layer for hidden states from outside, [tokens x hiddenSize] in rank order; writes what
   * the layer gives to `out`, of the same shape. Nothing is compared: the caller has the reference. Returns the
   * bytes that arrived. Throws as `carry` does, and RangeError when arrays and plan disagree on the tokens.
   */
  async carryRows(
    plan: DispatchPlan,
    layer: number,
    hidden: Float32Array,
    out: Float32Array,
  ): Promise<number> {
    const { hiddenSize } = this.options.model;
    const { tokenOffsets } = plan.routing;
    const wanted = tokenOffsets[plan.rankCount] * hiddenSize;
    if (hidden.length !== wanted || out.length !== wanted) {
      throw new RangeError(
        `rows of ${hidden.length} and ${out.length} elements for a plan of [${tokenOffsets[plan.rankCount]} x ${hiddenSize}]`,
      );
    }
    const rowsOfRank = (rank: number) =>
      hidden.slice(tokenOffsets[rank] * hiddenSize, tokenOffsets[rank + 1] * hiddenSize);
    const work = this.layOut(plan, 0, layer, rowsOfRank);
    const carried = await this.move(plan, work);
    for (let rank = 0; rank < plan.rankCount; rank++) {
      out.set(carried.output(rank), tokenOffsets[rank] * hiddenSize);
    }
    return carried.receivedBytes;
  }

  async close(): Promise<void> {
    await this.fabric.close();
  }

  private async move(plan: DispatchPlan, work: LayerWork): Promise<CarriedLayer> {
    const carried = await this.fabric.carryLayer(work).catch((thrown: unknown) => {
      throw placed(thrown, work);
    });
    const planned = plannedBytes(plan);
    if (carried.receivedBytes !== planned) {
      throw new Error(
        `invariant: ${carried.receivedBytes} bytes arrived of ${planned} planned in layer ${work.layer}`,
      );
    }
    return carried;
  }

  private layOut(
    plan: DispatchPlan,
    step: number,
    layer: number,
    hidden?: (rank: number) => Float32Array,
  ): LayerWork {
    const { rankCount, shardCount, perChoice, model, dispatchFormat, combineFormat } = this.options;
    const { placement } = plan;
    const plans = rankPlans(plan, slotsByExpert(placement).rankOfSlot, perChoice);
    const bounds = shardBounds(rankCount, shardCount());
    const shardOfRank = new Int32Array(rankCount);
    const parts = bounds.slice(0, -1).map((firstRank, shard): ShardPart => {
      const end = bounds[shard + 1];
      shardOfRank.fill(shard, firstRank, end);
      const own = plans.slice(firstRank, end);
      const slotCounts = own.map((p) => p.groupOffsets.length - 1);
      const spec: ShardSpec = {
        ...{ shard, model, rankCount, firstRank, slotCounts, dispatchFormat, combineFormat },
      };
      return {
        spec,
        layout: shardLayout(spec, own.map(rowsOf)),
        plans: own,
        slotExpert: placement.slotExpert.slice(placement.slotOffsets[firstRank], placement.slotOffsets[end]),
        ...(hidden ? { hidden: own.map((p) => hidden(p.rank)) } : {}),
      };
    });
    return {
      ...{ step, layer, placement, parts, plans, shardOfRank },
      rowBytes: {
        dispatch: rowBytes(dispatchFormat, model.expertWidth),
        combine: rowBytes(combineFormat, model.expertWidth),
      },
      mostBytes: parts.map((part) => this.mostBytes(part.spec)),
    };
  }

  /** Bytes of a shard when every token sends all it can to every rank; untouched pages cost nothing. */
  private mostBytes(spec: ShardSpec): number {
    const { rankCount, tokensPerRank: tokens, perChoice, topK } = this.options;
    const sent = tokens * (perChoice ? topK : Math.min(topK, rankCount));
    const received = rankCount * tokens * (perChoice ? topK : 1);
    const least = shardLayout(
      spec,
      spec.slotCounts.map(() => ({ tokens, sent, received: 0 })),
    ).bytes;
    const perRow = 2 * spec.model.expertWidth * 4;
    return Math.min(2 ** 32, least + spec.slotCounts.length * received * perRow + received * perRow);
  }
}

/** FNV-1a over 32-bit words. */
function hashBits(seed: number, values: Float32Array): number {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length);
  let hash = seed;
  for (let i = 0; i < words.length; i++) hash = Math.imul(hash ^ words[i], 0x01000193);
  return hash;
}

export function rowsOf(plan: RankPlan): RankRows {
  const last = (offsets: Int32Array) => offsets[offsets.length - 1];
  return { tokens: plan.tokenCount, sent: last(plan.sendOffsets), received: last(plan.recvOffsets) };
}

/** A shard's failure with the ranks, step and layer that it was at. */
function placed(thrown: unknown, { parts, step, layer }: LayerWork): unknown {
  if (!(thrown instanceof TransportError)) return thrown;
  const { shard, method, reason } = thrown;
  const { firstRank, slotCounts } = parts[shard].spec;
  const ranks = `ranks ${firstRank} to ${firstRank + slotCounts.length - 1}`;
  return new TransportError(shard, method, `${reason} (${ranks}, step ${step}, layer ${layer})`);
}

/** First rank of each shard and the end, [shards + 1]; ranks are shared out as evenly as they go. */
export function shardBounds(rankCount: number, shardCount: number): number[] {
  const shards = Math.min(rankCount, shardCount);
  return Array.from({ length: shards + 1 }, (_, i) => Math.floor((i * rankCount) / shards));
}

function plannedBytes(plan: DispatchPlan): number {
  let sum = 0;
  for (let i = 0; i < plan.dispatchBytes.length; i++) sum += plan.dispatchBytes[i] + plan.combineBytes[i];
  return sum;
}
