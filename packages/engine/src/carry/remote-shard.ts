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

export interface RankBlock {
  readonly from: number;
  readonly to: number;
  readonly bytes: Uint8Array;
}

/** Memory of one shard, made at its first layer. One layer at a time. */
export class RemoteShard {
  private memory: KernelMemory | null = null;
  private outbox = new SharedArrayBuffer(0);
  private loaded = '';

  constructor(private readonly pool: ShardPool) {}

  /** Makes memory and weights ready. Throws RangeError when the task does not fit one memory. */
  async begin(task: ShardTask): Promise<RemoteLayer> {
    const { layout, slotExpert } = task.part;
    const bytes = Math.max(task.memoryBytes, layout.bytes);
    if (this.memory === null || this.memory.buffer.byteLength < bytes) {
      this.memory = createMemory(bytes, { shared: true });
      this.loaded = '';
    }
    const out = { dispatch: outgoing(task, 'dispatch'), combine: outgoing(task, 'combine') };
    const outboxBytes = Math.max(endOf(out.dispatch), endOf(out.combine));
    if (this.outbox.byteLength < outboxBytes) this.outbox = new SharedArrayBuffer(outboxBytes);
    const begun = new RemoteLayer(task, out, this.memory, this.outbox, this.pool);
    const weights = `${task.layer}:${slotExpert.join()}`;
    if (this.loaded !== weights) {
      this.loaded = '';
      await begun.load();
      this.loaded = weights;
    }
    return begun;
  }
}

/** One layer of one shard: `dispatch`, `compute` and `combine` in this order, the last two once their rows are there. */
export class RemoteLayer {
  /** Bytes of each pair's block that have arrived on each leg, [own ranks x rankCount]. */
  private readonly arrived: Readonly<Record<Leg, Float64Array>>;
  private readonly missing: Record<Leg, number>;

  constructor(
    private readonly task: ShardTask,
    private readonly out: Readonly<Record<Leg, readonly Outgoing[]>>,
    private readonly memory: KernelMemory,
    private readonly outbox: SharedArrayBuffer,
    private readonly pool: ShardPool,
  ) {
    const { plans, spec } = task.part;
    const cells = plans.length * spec.rankCount;
    this.arrived = { dispatch: new Float64Array(cells), combine: new Float64Array(cells) };
    const planned = (leg: Leg) =>
      plans.reduce((sum, plan) => sum + arrivingOffsets(plan, leg)[spec.rankCount], 0) * this.rowBytes(leg);
    this.missing = { dispatch: planned('dispatch'), combine: planned('combine') };
  }

  /**
   * Takes bytes of the rows that `from` has for `to`, from byte `offset` of them, at any time, in which the leg's own
   * phase does not run. Pieces of a block come in order.
   * Throws RangeError for what the plan does not have and for what has come before.
   */
  accept(leg: Leg, from: number, to: number, offset: number, bytes: Uint8Array): void {
    const { spec, layout, plans } = this.task.part;
    const local = to - spec.firstRank;
    const plan = plans[local];
    if (!plan || !(from < spec.rankCount)) throw new RangeError(`rows from ${from} to ${to} are not planned`);
    const offsets = arrivingOffsets(plan, leg);
    const size = this.rowBytes(leg);
    const cell = local * spec.rankCount + from;
    const [before, planned] = [this.arrived[leg][cell], (offsets[from + 1] - offsets[from]) * size];
    if (offset !== before || offset + bytes.length > planned) {
      throw new RangeError(
        `rows from ${from} to ${to}: bytes ${offset} to ${offset + bytes.length} after ${before} of ${planned}`,
      );
    }
    const region = leg === 'dispatch' ? layout.recv[local] : layout.reply[local];
    new Uint8Array(this.memory.buffer, region + offsets[from] * size + offset, bytes.length).set(bytes);
    this.arrived[leg][cell] += bytes.length;
    this.missing[leg] -= bytes.length;
  }

  /** True when all rows of a leg are there. */
  complete(leg: Leg): boolean {
    return this.missing[leg] === 0;
  }

  async load(): Promise<void> {
    await this.call('load');
  }

  async dispatch(): Promise<void> {
    await this.call('dispatch');
  }

  /** Runs the experts; returns the bytes of rows that it read. */
  compute(): Promise<number> {
    return this.call('compute', 'dispatch');
  }

  /** Finishes the layer; returns the bytes of rows that it read. */
  combine(): Promise<number> {
    return this.call('combine', 'combine');
  }

  /** Rows that leave on a leg for the ranks [first, end), in rank order; views that are valid until the next phase. */
  *blocksTo(leg: Leg, first: number, end: number): Generator<RankBlock> {
    for (const { from, to, start, bytes } of this.out[leg]) {
      if (to < first || to >= end || bytes === 0) continue;
      yield { from, to, bytes: new Uint8Array(this.outbox, start, bytes) };
    }
  }

  /** After `combine`: the result of each own rank, from itself to itself, [tokens x hiddenSize]. */
  *results(): Generator<RankBlock> {
    const { layout, plans, spec } = this.task.part;
    for (const [local, plan] of plans.entries()) {
      const length = plan.tokenCount * spec.model.hiddenSize * 4;
      const bytes = new Uint8Array(this.memory.buffer, layout.output[local], length);
      yield { from: plan.rank, to: plan.rank, bytes };
    }
  }

  /** Sends one call to a thread, with where the rows lie that it reads and where those go that it sends. */
  private async call(method: ShardMethod, reads: Leg = 'dispatch'): Promise<number> {
    const { part, step, layer } = this.task;
    const { shard, firstRank, rankCount } = part.spec;
    const sends = method === 'dispatch' ? 'dispatch' : 'combine';
    const size = this.rowBytes(reads);
    const regions: OutboxRegions = {
      ...{ kind: 'outbox', memory: this.memory, firstRank, rankCount, outbox: this.outbox },
      starts: Float64Array.from(this.out[sends], ({ start }) => start),
      arrived: Int32Array.from(this.arrived[reads], (bytes) => Math.floor(bytes / size)),
    };
    const args: ShardWork = { ...part, step, layer, regions };
    const [received] = (await this.pool.callAll([{ shard, method, args }])) as number[];
    return received;
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

interface Outgoing {
  readonly from: number;
  readonly to: number;
  /** First byte in the outbox. */
  readonly start: number;
  readonly bytes: number;
}

/** What leaves on a leg: a block for each own rank and each rank, own rank first. */
function outgoing(task: ShardTask, leg: Leg): Outgoing[] {
  const { spec, plans } = task.part;
  const size = rowBytesOf(task, leg);
  let next = 0;
  return plans.flatMap((plan) => {
    const offsets = leg === 'dispatch' ? plan.sendOffsets : plan.recvOffsets;
    return Array.from({ length: spec.rankCount }, (_, to) => {
      const bytes = (offsets[to + 1] - offsets[to]) * size;
      next += bytes;
      return { from: plan.rank, to, start: next - bytes, bytes };
    });
  });
}

function endOf(blocks: readonly Outgoing[]): number {
  const last = blocks.at(-1);
  return last ? last.start + last.bytes : 0;
}
