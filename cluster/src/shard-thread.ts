/**
 * Runs on a thread of a worker: holds one shard for as long as the ranks are shared out so, and takes the
 * coordinator's orders. Several may be held at a time; they compute one after another.
 * Its one idea: nothing is kept between layers that a task and the weights' seeds do not give again, so a shard goes
 * back to its queue whenever another worker's turn has come.
 */
import { createShardHandler, RemoteShard } from '@epsim/engine';
import { inlineShards } from '@epsim/transport';
import {
  bounded,
  type Entry,
  type Hold,
  MailReader,
  openRedis,
  ordersKey,
  RunMovedOn,
} from '@epsim/transport/redis';
import type { Redis } from 'ioredis';
import { type Order, orderSchema, type ShardJobData } from './shard-job.js';
import { ShardLayer } from './shard-layer.js';

/** What the thread and its process tell each other while a shard is held: places in an Int32Array. */
export const STATE = { leave: 0, step: 1, layer: 2 } as const;

export interface ShardTenure {
  readonly job: ShardJobData;
  readonly url: string;
  readonly name: string;
  /** In shared memory. */
  readonly state: Int32Array;
  readonly lock: Hold['lock'];
}

/** Holds the shard until its run is `over`, or it is `left` for another worker. Throws when it is another one's by now. */
export default async function holdShard(tenure: ShardTenure): Promise<'over' | 'left'> {
  const redis = await openRedis(tenure.url, tenure.job.patienceMs, tenure.name);
  try {
    return await new ShardHolder(tenure, redis).serve();
  } finally {
    redis.disconnect();
  }
}

/** How long a wait inside Redis lasts, and how often the holder looks whether it still holds the shard. */
const WAIT_MS = 500;

/** An order and the frames of its task. */
interface Given {
  readonly order: Order;
  readonly frames: Buffer[];
}

class ShardHolder {
  private readonly reader: MailReader;
  private readonly shard: RemoteShard;
  private readonly orders: string;
  /** The last order. */
  private given: Given | null = null;

  private lookedAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly tenure: ShardTenure,
    private readonly redis: Redis,
  ) {
    const { run, sharing, shard, bounds, patienceMs } = tenure.job;
    this.shard = new RemoteShard(inlineShards(createShardHandler()), bounds);
    this.reader = new MailReader(redis, patienceMs);
    this.orders = ordersKey(run, sharing, shard);
  }

  async serve(): Promise<'over' | 'left'> {
    let last: ShardLayer | null = null;
    for (let done: Given | null = null; ; ) {
      while (this.given === done) {
        if (Atomics.load(this.tenure.state, STATE.leave) === 1) return 'left';
        await this.read([this.orders]);
        // Asked before, answered before. What Redis did not take is sent by whoever takes this job up again.
        await last?.settled();
      }
      done = this.given as Given;
      if ('over' in done.order) return 'over';
      last = await this.layer(done, done.order.beginning, done.order.frames);
    }
  }

  /** One layer; a new order in the middle of it ends it. */
  private async layer(given: Given, beginning: number, frames: number): Promise<ShardLayer> {
    const { job, state } = this.tenure;
    const read = async (inbox: string) => {
      const entries = await this.read([this.orders, inbox]);
      if (this.given !== given) throw new RunMovedOn(`run ${job.run} has moved on`);
      return entries;
    };
    const layer = new ShardLayer(job, beginning, this.redis, read, () => this.lookAtLock());
    await layer.carry(this.shard, given.frames, frames, (task) => {
      Atomics.store(state, STATE.step, task.step);
      Atomics.store(state, STATE.layer, task.layer);
    });
    return layer;
  }

  /** What has come into an inbox, nothing when none came for a while; takes note of orders. Throws when the lock is lost. */
  private async read(keys: readonly string[]): Promise<Entry[]> {
    if (performance.now() - this.lookedAt > WAIT_MS) await this.lookAtLock();
    const entries = await this.reader.read(keys, WAIT_MS);
    for (const { key, kind, bytes } of entries) {
      if (key !== this.orders) continue;
      const order = kind === 'order' ? orderOf(bytes) : null;
      if (order !== null) this.given = { order, frames: [] };
      else if (kind === 'frame') this.given?.frames.push(bytes);
    }
    return entries.filter(({ key, kind }) => key !== this.orders && kind === 'frame');
  }

  /** Throws when the shard is not ours any more: given to another worker, or the run is over, or Redis forgot it. */
  private async lookAtLock(): Promise<void> {
    const { lock, job } = this.tenure;
    const silent = () => 'Redis does not answer while asking for a lock';
    const holds = await bounded(this.redis.get(lock.key), job.patienceMs, silent);
    if (holds !== lock.token) throw new RunMovedOn(`shard ${job.shard} is not ours any more`);
    this.lookedAt = performance.now();
  }
}

/** Null for what is no order. */
function orderOf(bytes: Buffer): Order | null {
  try {
    return orderSchema.parse(JSON.parse(bytes.toString()));
  } catch {
    return null;
  }
}
