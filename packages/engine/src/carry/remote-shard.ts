/**
 * A shard alone in its process: rows come in and go out as blocks, through whatever carries them.
 * One idea: a phase is a function of the task and the rows that arrived, so any process may do it, twice if need
 * be, with the same bits. Memory and weights stay between phases only because they are dear.
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

export type RowPhase = Exclude<ShardMethod, 'load'>;

export interface RankBlock {
  readonly from: number;
  readonly to: number;
  readonly bytes: Uint8Array;
}

/** Memory of one shard, made at its first phase. One phase at a time. */
export class RemoteShard {
  private memory: KernelMemory | null = null;
  private outbox = new SharedArrayBuffer(0);
  private loaded = '';

  constructor(private readonly pool: ShardPool) {}

  /** Bytes of memory that are in use, weights and rows. */
  usedBytes = 0;

  /** Makes memory and weights ready. Throws RangeError when the task does not fit one memory. */
  async begin(task: ShardTask, phase: RowPhase): Promise<RemotePhase> {
    const { layout } = task.part;
    const bytes = Math.max(task.memoryBytes, layout.bytes);
    if (this.memory === null || this.memory.buffer.byteLength < bytes) {
      this.memory = createMemory(bytes, { shared: true });
      this.loaded = '';
    }
    const outboxBytes = outgoing(task, phase).reduce((sum, block) => sum + block.bytes, 0);
    if (this.outbox.byteLength < outboxBytes) this.outbox = new SharedArrayBuffer(outboxBytes);
    this.usedBytes = layout.bytes + this.outbox.byteLength;
    const started = new RemotePhase(task, phase, this.memory, this.outbox, this.pool);
    const weights = `${task.layer}:${task.part.slotExpert.join()}`;
    if (phase !== 'dispatch' || task.part.spec.model.latent) {
      if (this.loaded !== weights) {
        this.loaded = '';
        await started.call('load');
        this.loaded = weights;
      }
    }
    return started;
  }
}

/** One phase of one shard: first all rows are accepted, then it runs, then its rows are there to be sent. */
export class RemotePhase {
  /** Bytes of each pair's block that have arrived, [own ranks x rankCount]. */
  private readonly arrivedBytes: Float64Array;
  private readonly regions: OutboxRegions;

  constructor(
    private readonly task: ShardTask,
    private readonly phase: RowPhase,
    private readonly memory: KernelMemory,
    outbox: SharedArrayBuffer,
    private readonly pool: ShardPool,
  ) {
    const { rankCount, firstRank } = task.part.spec;
    const cells = task.part.plans.length * rankCount;
    this.arrivedBytes = new Float64Array(cells);
    const starts = new Float64Array(cells);
    let next = 0;
    outgoing(task, phase).forEach((block, cell) => {
      starts[cell] = next;
      next += block.bytes;
    });
    this.regions = {
      kind: 'outbox',
      memory,
      firstRank,
      rankCount,
      outbox,
      starts,
      arrived: new Int32Array(cells),
    };
  }

  /**
   * Takes bytes of the rows that `from` has for `to`, from byte `offset` of them. Pieces of a block come in order.
   * Throws RangeError for what the plan does not have and for what has come before.
   */
  accept(from: number, to: number, offset: number, bytes: Uint8Array): void {
    const { spec, layout, plans } = this.task.part;
    const local = to - spec.firstRank;
    const plan = plans[local];
    if (!plan || !(from < spec.rankCount)) throw new RangeError(`rows from ${from} to ${to} are not planned`);
    const leg = this.legIn();
    if (leg === null) throw new RangeError(`${this.phase} takes no rows`);
    const offsets = leg === 'dispatch' ? plan.recvOffsets : plan.sendOffsets;
    const size = this.rowBytes(leg);
    const cell = local * spec.rankCount + from;
    if (
      offset !== this.arrivedBytes[cell] ||
      offset + bytes.length > (offsets[from + 1] - offsets[from]) * size
    ) {
      throw new RangeError(
        `rows from ${from} to ${to}: bytes ${offset} to ${offset + bytes.length} after ${this.arrivedBytes[cell]} of ${(offsets[from + 1] - offsets[from]) * size}`,
      );
    }
    const region = leg === 'dispatch' ? layout.recv[local] : layout.reply[local];
    new Uint8Array(this.memory.buffer, region + offsets[from] * size + offset, bytes.length).set(bytes);
    this.arrivedBytes[cell] += bytes.length;
  }

  /** Runs the phase; returns the bytes of rows that it received. */
  async run(): Promise<number> {
    const leg = this.legIn();
    if (leg !== null) {
      const size = this.rowBytes(leg);
      this.arrivedBytes.forEach((bytes, cell) => {
        this.regions.arrived[cell] = Math.floor(bytes / size);
      });
    }
    return this.call(this.phase);
  }

  /** Rows for the ranks [first, end), in rank order; views that are valid until the next phase. */
  *blocksTo(first: number, end: number): Generator<RankBlock> {
    for (const [cell, { from, to, bytes }] of outgoing(this.task, this.phase).entries()) {
      if (to < first || to >= end || bytes === 0) continue;
      yield { from, to, bytes: new Uint8Array(this.regions.outbox, this.regions.starts[cell], bytes) };
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

  /** Sends one call to a thread. */
  async call(method: ShardMethod): Promise<number> {
    const { part, step, layer } = this.task;
    const args: ShardWork = { ...part, step, layer, regions: this.regions };
    const [received] = (await this.pool.callAll([{ shard: part.spec.shard, method, args }])) as number[];
    return received;
  }

  private legIn(): Leg | null {
    return this.phase === 'dispatch' ? null : this.phase === 'compute' ? 'dispatch' : 'combine';
  }

  private rowBytes(leg: Leg): number {
    const { spec } = this.task.part;
    return rowBytes(leg === 'dispatch' ? spec.dispatchFormat : spec.combineFormat, spec.model.expertWidth);
  }
}

/** What a phase sends: a block for each own rank and each rank, own rank first; none for `combine`. */
function outgoing(
  task: ShardTask,
  phase: RowPhase,
): { readonly from: number; readonly to: number; readonly bytes: number }[] {
  if (phase === 'combine') return [];
  const { spec, plans } = task.part;
  const format = phase === 'dispatch' ? spec.dispatchFormat : spec.combineFormat;
  const size = rowBytes(format, spec.model.expertWidth);
  return plans.flatMap((plan) => {
    const offsets = phase === 'dispatch' ? plan.sendOffsets : plan.recvOffsets;
    return Array.from({ length: spec.rankCount }, (_, to) => ({
      from: plan.rank,
      to,
      bytes: (offsets[to + 1] - offsets[to]) * size,
    }));
  });
}
