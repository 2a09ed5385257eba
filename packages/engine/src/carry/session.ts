/**
 * Carries dispatch plans: lays out the shards, drives them through a layer's phases with a barrier after each,
 * and compares what comes out with the single-process reference.
 */
import type { DispatchPlan, Placement } from '@epsim/spec';
import { createMemory, type KernelMemory, type RowFormat, rowBytes } from '@epsim/tensor';
import type { ShardPool } from '@epsim/transport';
import { slotsByExpert } from '../plan/choose-slots.js';
import type { CarriedModel } from './carried-model.js';
import { type RankPlan, rankPlans } from './rank-plan.js';
import { createReference, type Reference } from './reference.js';
import type { SharedRegions } from './row-port.js';
import type { ShardMethod, ShardWork } from './shard-handler.js';
import { type RankRows, type ShardLayout, type ShardSpec, shardLayout } from './shard-layout.js';

export interface CarryOptions {
  readonly model: CarriedModel;
  readonly rankCount: number;
  readonly tokensPerRank: number;
  /** Shards that share out the ranks; more than one worker needs more than one. */
  readonly shardCount: number;
  readonly dispatchFormat: RowFormat;
  readonly combineFormat: RowFormat;
  readonly perChoice: boolean;
  readonly topK: number;
}

export interface CarryResult {
  readonly tokens: number;
  readonly maxAbsError: number;
  readonly maxRelError: number;
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
  private readonly memories: KernelMemory[] = [];
  private reference: Reference | null = null;
  private loaded: { layer: number; placement: Placement } | null = null;

  constructor(
    private readonly options: CarryOptions,
    private readonly pool: ShardPool,
  ) {}

  /**
   * Moves and computes one layer. Throws TransportError when a shard fails, and an `invariant:` error when the
   * bytes that arrived are not the plan's or the result is not the reference's.
   */
  async carry(plan: DispatchPlan, step: number, layer: number): Promise<CarryResult> {
    const work = this.layOut(plan, step, layer);
    const receivedBytes = await this.move(plan, layer, work);
    return { ...this.compare(plan, step, layer, work), receivedBytes };
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
    const work = this.layOut(plan, 0, layer).map((own) => ({
      ...own,
      hidden: own.plans.map((p) => rowsOfRank(p.rank)),
    }));
    const receivedBytes = await this.move(plan, layer, work);
    for (const { spec, layout, plans } of work) {
      plans.forEach((p, local) => {
        const { buffer } = this.memories[spec.shard];
        const rows = new Float32Array(buffer, layout.output[local], p.tokenCount * hiddenSize);
        out.set(rows, tokenOffsets[p.rank] * hiddenSize);
      });
    }
    return receivedBytes;
  }

  async close(): Promise<void> {
    await this.pool.close();
  }

  /** The phases of one layer with a barrier after each; returns the bytes that arrived. */
  private async move(plan: DispatchPlan, layer: number, work: readonly ShardWork[]): Promise<number> {
    const run = async (method: ShardMethod) =>
      (await this.pool.callAll(work.map((args, shard) => ({ shard, method, args })))) as number[];
    if (this.loaded?.layer !== layer || this.loaded.placement !== plan.placement) {
      await run('load');
      this.loaded = { layer, placement: plan.placement };
    }
    await run('dispatch');
    const received = [...(await run('compute')), ...(await run('combine'))];
    const receivedBytes = received.reduce((a, b) => a + b, 0);
    const planned = plannedBytes(plan);
    if (receivedBytes !== planned) {
      throw new Error(`invariant: ${receivedBytes} bytes arrived of ${planned} planned in layer ${layer}`);
    }
    return receivedBytes;
  }

  /** One ShardWork per shard; memories grow to hold the layer. */
  private layOut(plan: DispatchPlan, step: number, layer: number): ShardWork[] {
    const { options } = this;
    const { placement } = plan;
    const plans = rankPlans(plan, slotsByExpert(placement).rankOfSlot, options.perChoice);
    const bounds = shardBounds(options.rankCount, options.shardCount);
    const specs: ShardSpec[] = [];
    const layouts: ShardLayout[] = [];
    for (let shard = 0; shard + 1 < bounds.length; shard++) {
      const ranks = plans.slice(bounds[shard], bounds[shard + 1]);
      const spec: ShardSpec = {
        shard,
        model: options.model,
        rankCount: options.rankCount,
        firstRank: bounds[shard],
        slotCounts: ranks.map((p) => p.groupOffsets.length - 1),
        dispatchFormat: options.dispatchFormat,
        combineFormat: options.combineFormat,
      };
      specs.push(spec);
      layouts.push(shardLayout(spec, ranks.map(rowsOf)));
      this.memories[shard] ??= createMemory(this.mostBytes(spec), { shared: true });
      if (layouts[shard].bytes > this.memories[shard].buffer.byteLength) {
        throw new RangeError(
          `shard ${shard} needs ${layouts[shard].bytes} bytes of at most 4 GiB; use more workers`,
        );
      }
    }
    const regions = this.regions(plans, bounds, layouts);
    return specs.map((spec, shard) => ({
      spec,
      layout: layouts[shard],
      plans: plans.slice(bounds[shard], bounds[shard + 1]),
      slotExpert: placement.slotExpert.slice(
        placement.slotOffsets[bounds[shard]],
        placement.slotOffsets[bounds[shard + 1]],
      ),
      step,
      layer,
      regions,
    }));
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

  private regions(
    plans: readonly RankPlan[],
    bounds: readonly number[],
    layouts: readonly ShardLayout[],
  ): SharedRegions {
    const { rankCount, dispatchFormat, combineFormat, model } = this.options;
    const shardOfRank = new Int32Array(rankCount);
    for (let shard = 0; shard + 1 < bounds.length; shard++)
      shardOfRank.fill(shard, bounds[shard], bounds[shard + 1]);
    const at = (region: 'recv' | 'reply') =>
      Float64Array.from(
        plans,
        (p) => layouts[shardOfRank[p.rank]][region][p.rank - bounds[shardOfRank[p.rank]]],
      );
    const landOffsets = new Int32Array(rankCount * rankCount);
    const replyOffsets = new Int32Array(rankCount * rankCount);
    for (let from = 0; from < rankCount; from++) {
      for (let to = 0; to < rankCount; to++) {
        landOffsets[from * rankCount + to] = plans[to].recvOffsets[from];
        replyOffsets[from * rankCount + to] = plans[from].sendOffsets[to];
      }
    }
    return {
      memories: this.memories,
      shardOfRank,
      recv: at('recv'),
      reply: at('reply'),
      landOffsets,
      replyOffsets,
      arrived: new Int32Array(new SharedArrayBuffer(2 * rankCount * rankCount * 4)),
      rowBytes: {
        dispatch: rowBytes(dispatchFormat, model.expertWidth),
        combine: rowBytes(combineFormat, model.expertWidth),
      },
    };
  }

  private compare(plan: DispatchPlan, step: number, layer: number, work: readonly ShardWork[]) {
    const { model, dispatchFormat, combineFormat } = this.options;
    this.reference ??= createReference(model, this.options.rankCount * this.options.tokensPerRank);
    const expected = this.reference.layer(plan.routing, step, layer);
    let maxAbsError = 0;
    let largest = 0;
    let hash = 0x811c9dc5;
    for (const { spec, layout, plans } of work) {
      plans.forEach((p, local) => {
        const length = p.tokenCount * model.hiddenSize;
        const got = new Float32Array(this.memories[spec.shard].buffer, layout.output[local], length);
        hash = hashBits(hash, got);
        const base = plan.routing.tokenOffsets[p.rank] * model.hiddenSize;
        for (let i = 0; i < length; i++) {
          const error = Math.abs(got[i] - expected[base + i]);
          // A NaN anywhere must fail, not vanish in a comparison.
          if (!(error <= maxAbsError)) maxAbsError = error;
          largest = Math.max(largest, Math.abs(expected[base + i]));
        }
      });
    }
    const maxRelError = largest === 0 ? maxAbsError : maxAbsError / largest;
    const tolerance = Math.max(errorTolerance[dispatchFormat], errorTolerance[combineFormat]);
    if (!(maxRelError <= tolerance)) {
      throw new Error(
        `invariant: layer ${layer} of step ${step} differs from the single-process reference by ${maxRelError} of its largest value; ${tolerance} is allowed`,
      );
    }
    return {
      tokens: plan.routing.tokenOffsets[plan.rankCount],
      maxAbsError,
      maxRelError,
      outputHash: (hash >>> 0).toString(16).padStart(8, '0'),
    };
  }
}

/** FNV-1a over 32-bit words. */
function hashBits(seed: number, values: Float32Array): number {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length);
  let hash = seed;
  for (let i = 0; i < words.length; i++) hash = Math.imul(hash ^ words[i], 0x01000193);
  return hash;
}

function rowsOf(plan: RankPlan): RankRows {
  const last = (offsets: Int32Array) => offsets[offsets.length - 1];
  return { tokens: plan.tokenCount, sent: last(plan.sendOffsets), received: last(plan.recvOffsets) };
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
