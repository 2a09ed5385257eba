/**
 * A shard alone in its process: rows come in and go out as blocks, through whatever carries them.
 * One idea: a layer of a shard is a function of its task and of the rows that arrive, so any process may do it, twice
 * if need be, with the same bits. Memory and weights stay between layers only because they are dear.
 * Knows nothing about how blocks travel.
 */
import { createMemory, type KernelMemory, rowBytes } from '@epsim/tensor';
import type { ShardPool } from '@epsim/transport';
import type { ShardPart } from './fabric.js';
import type { Leg, OutboxRegions } from './row-port.js';
import type { ShardMethod, ShardWork } from './shard-handler.js';

/** One shard's share of a layer, with all that a process needs to begin from nothing. */
export interface ShardTask {
  readonly step: number;
  readonly layer: number;
  readonly part: ShardPart;
  /** Bytes that the shard's memory needs at most over the run. */
  readonly memoryBytes: number;
}

/** Rows that the ranks of a shard have for one rank, in rank order. */
export interface ShardBlock {
  /** The shard. */
  readonly from: number;
  /** The rank. */
  readonly to: number;
  readonly bytes: Uint8Array;
}

/** Memory of one shard, made at its first layer. One layer at a time. */
export class RemoteShard {
  private memory: KernelMemory | null = null;
  private outbox = new SharedArrayBuffer(0);
  private loaded = '';

  /** `bounds` are the first rank of each shard of the run and the end, [shards + 1]. */
  constructor(
    private readonly pool: ShardPool,
    private readonly bounds: readonly number[],
  ) {}

  /** Makes memory and weights ready. Throws RangeError when the task is another shard's, or does not fit one memory. */
  async begin(task: ShardTask): Promise<RemoteLayer> {
    const { layout, slotExpert, spec, plans } = task.part;
    const [first, end] = this.bounds.slice(spec.shard, spec.shard + 2);
    if (spec.firstRank !== first || first + plans.length !== end || spec.rankCount !== this.bounds.at(-1)) {
      throw new RangeError(`a task for ranks from ${spec.firstRank} on that are not those of its shard`);
    }
    const bytes = Math.max(task.memoryBytes, layout.bytes);
    if (this.memory === null || this.memory.buffer.byteLength < bytes) {
      this.memory = createMemory(bytes, { shared: true });
      this.loaded = '';
    }
    const out = { dispatch: outgoing(task, 'dispatch'), combine: outgoing(task, 'combine') };
    const outboxBytes = Math.max(out.dispatch.bytes, out.combine.bytes);
    if (this.outbox.byteLength < outboxBytes) this.outbox = new SharedArrayBuffer(outboxBytes);
    const begun = new RemoteLayer(task, this.bounds, out, this.memory, this.outbox, this.pool);
    const weights = `${task.layer}:${slotExpert.join()}`;
    if (this.loaded !== weights) {
      this.loaded = '';
      await begun.load();
      this.loaded = weights;
    }
    return begun;
  }
}

const NO_ROWS = new Int32Array(0);

/** One layer of one shard: `dispatch`, `compute` and `combine` in this order, the last two once their rows are there. */
export class RemoteLayer {
  /** Bytes that have arrived for each own rank from each shard on each leg, [own ranks x shards]. */
  private readonly arrived: Readonly<Record<Leg, Float64Array>>;
  private readonly missing: Record<Leg, number>;

  constructor(
    private readonly task: ShardTask,
    private readonly bounds: readonly number[],
    private readonly out: Readonly<Record<Leg, Outgoing>>,
    private readonly memory: KernelMemory,
    private readonly outbox: SharedArrayBuffer,
    private readonly pool: ShardPool,
  ) {
    const { plans, spec } = task.part;
    const cells = plans.length * (bounds.length - 1);
    this.arrived = { dispatch: new Float64Array(cells), combine: new Float64Array(cells) };
    const planned = (leg: Leg) =>
      plans.reduce((sum, plan) => sum + arrivingOffsets(plan, leg)[spec.rankCount], 0) * this.rowBytes(leg);
    this.missing = { dispatch: planned('dispatch'), combine: planned('combine') };
  }

  /**
   * Takes bytes of the rows that the shard `from` has for the rank `to`, from byte `offset` of them, at any time, in
   * which the leg's own phase does not run. Pieces of a block come in order.
   * Throws RangeError for what the plan does not have and for what has come before.
   */
  accept(leg: Leg, from: number, to: number, offset: number, bytes: Uint8Array): void {
    const { spec, layout, plans } = this.task.part;
    const shards = this.bounds.length - 1;
    const local = to - spec.firstRank;
    const plan = plans[local];
    if (!plan || !(from < shards)) {
      throw new RangeError(`rows from shard ${from} to rank ${to} are not planned`);
    }
    const offsets = arrivingOffsets(plan, leg);
    const size = this.rowBytes(leg);
    const first = offsets[this.bounds[from]];
    const cell = local * shards + from;
    const [before, planned] = [this.arrived[leg][cell], (offsets[this.bounds[from + 1]] - first) * size];
    if (offset !== before || offset + bytes.length > planned) {
      throw new RangeError(
        `rows from shard ${from} to rank ${to}: bytes ${offset} to ${offset + bytes.length} after ${before} of ${planned}`,
      );
    }
    const region = leg === 'dispatch' ? layout.recv[local] : layout.reply[local];
    new Uint8Array(this.memory.buffer, region + first * size + offset, bytes.length).set(bytes);
    this.arrived[leg][cell] += bytes.length;
    this.missing[leg] -= bytes.length;
  }

  /** True when all rows of a leg are there. */
  complete(leg: Leg): boolean {
    return this.missing[leg] === 0;
  }

  async load(): Promise<void> {
    await this.call('load', null);
  }

  async dispatch(): Promise<void> {
    await this.call('dispatch', null);
  }

  /** Runs the experts; returns the bytes of rows that it read. */
  compute(): Promise<number> {
    return this.call('compute', 'dispatch');
  }

  /** Finishes the layer; returns the bytes of rows that it read. */
  combine(): Promise<number> {
    return this.call('combine', 'combine');
  }

  /** Rows that leave on a leg for the ranks of a shard, in rank order; views that are valid until the next phase. */
  *blocksTo(leg: Leg, shard: number): Generator<ShardBlock> {
    const { offsets } = this.out[leg];
    for (let to = this.bounds[shard]; to < this.bounds[shard + 1]; to++) {
      const bytes = offsets[to + 1] - offsets[to];
      if (bytes === 0) continue;
      yield { from: this.task.part.spec.shard, to, bytes: new Uint8Array(this.outbox, offsets[to], bytes) };
    }
  }

  /** After `combine`: the result of each own rank, [tokens x hiddenSize], in rank order. */
  *results(): Generator<ShardBlock> {
    const { layout, plans, spec } = this.task.part;
    for (const [local, plan] of plans.entries()) {
      const length = plan.tokenCount * spec.model.hiddenSize * 4;
      const bytes = new Uint8Array(this.memory.buffer, layout.output[local], length);
      yield { from: spec.shard, to: plan.rank, bytes };
    }
  }

  /** Sends one call to a thread, with where the rows lie that it reads and where those go that it sends. */
  private async call(method: ShardMethod, reads: Leg | null): Promise<number> {
    const { part, step, layer } = this.task;
    const { shard, firstRank, rankCount } = part.spec;
    const regions: OutboxRegions = {
      ...{ kind: 'outbox', memory: this.memory, firstRank, rankCount, outbox: this.outbox },
      starts: this.out[method === 'dispatch' ? 'dispatch' : 'combine'].starts,
      arrived: reads === null ? NO_ROWS : this.arrivedRows(reads),
    };
    const args: ShardWork = { ...part, step, layer, regions };
    const [received] = (await this.pool.callAll([{ shard, method, args }])) as number[];
    return received;
  }

  /** Rows that have arrived on a leg for each own rank from each rank, [own ranks x rankCount]. */
  private arrivedRows(leg: Leg): Int32Array {
    const { plans, spec } = this.task.part;
    const shards = this.bounds.length - 1;
    const size = this.rowBytes(leg);
    const rows = new Int32Array(plans.length * spec.rankCount);
    for (const [local, plan] of plans.entries()) {
      const offsets = arrivingOffsets(plan, leg);
      for (let shard = 0; shard < shards; shard++) {
        let left = Math.floor(this.arrived[leg][local * shards + shard] / size);
        for (let from = this.bounds[shard]; from < this.bounds[shard + 1]; from++) {
          const here = Math.min(left, offsets[from + 1] - offsets[from]);
          rows[local * spec.rankCount + from] = here;
          left -= here;
        }
      }
    }
    return rows;
  }

  private rowBytes(leg: Leg): number {
    return rowBytesOf(this.task, leg);
  }
}

function rowBytesOf({ part: { spec } }: ShardTask, leg: Leg): number {
  return rowBytes(leg === 'dispatch' ? spec.dispatchFormat : spec.combineFormat, spec.model.expertWidth);
}

/** Where the rows from each rank begin among those that arrive on a leg, [rankCount + 1]. */
function arrivingOffsets(plan: ShardPart['plans'][number], leg: Leg): Int32Array {
  return leg === 'dispatch' ? plan.recvOffsets : plan.sendOffsets;
}

/** Where in the outbox lies what leaves on a leg: by the rank that it is for, then by own rank. */
interface Outgoing {
  /** First byte for each rank and the end, [rankCount + 1]. */
  readonly offsets: Float64Array;
  /** First byte from each own rank for each rank, [own ranks x rankCount]. */
  readonly starts: Float64Array;
  readonly bytes: number;
}

function outgoing(task: ShardTask, leg: Leg): Outgoing {
  const { spec, plans } = task.part;
  const { rankCount } = spec;
  const size = rowBytesOf(task, leg);
  const offsets = new Float64Array(rankCount + 1);
  const starts = new Float64Array(plans.length * rankCount);
  let next = 0;
  for (let to = 0; to < rankCount; to++) {
    offsets[to] = next;
    for (const [local, plan] of plans.entries()) {
      const rows = leg === 'dispatch' ? plan.sendOffsets : plan.recvOffsets;
      starts[local * rankCount + to] = next;
      next += (rows[to + 1] - rows[to]) * size;
    }
  }
  offsets[rankCount] = next;
  return { offsets, starts, bytes: next };
}
