/**
 * One layer of one shard in a worker process: fetches what the others send it, has its phases computed, and sends
 * them theirs.
 * One idea: nothing outside task and rows decides a result, and what is sent twice is read once, so any worker may
 * begin the layer of a shard again from what lies in its inbox.
 */
import type { Leg, RemoteLayer, RemoteShard, ShardTask } from '@epsim/engine';
import { ClusterFailure, reasonOf } from '@epsim/transport';
import {
  Arrivals,
  type Entry,
  FramesLost,
  inboxKey,
  type Letter,
  Mail,
  RedisFull,
  RunMovedOn,
  taskChannel,
} from '@epsim/transport/redis';
import type { Redis } from 'ioredis';
import { type Progress, resultsChannel, rowsChannel, type ShardJobData, type Words } from './shard-job.js';
import { decodeTask } from './shard-task.js';

/** Shortest time between two words about how far a layer is. */
const TELL_MS = 100;

export class ShardLayer {
  private readonly mail: Mail;
  private readonly arrivals: Arrivals<Leg | 'task'>;
  private readonly inbox: string;
  private phase: 'dispatch' | 'compute' | 'combine' = 'dispatch';
  private told = performance.now();

  /**
   * `read` gives what has come into an inbox, or throws when the run has moved on. `checkLock` throws when the shard
   * is another one's by now.
   */
  constructor(
    private readonly job: ShardJobData,
    private readonly beginning: number,
    redis: Redis,
    private readonly read: (inbox: string) => Promise<readonly Entry[]>,
    private readonly checkLock: () => Promise<void>,
  ) {
    this.mail = new Mail(redis, job, beginning);
    this.inbox = inboxKey(job.run, beginning, job.shard);
    this.arrivals = new Arrivals(job.run, this.channels());
  }

  /** Carries the layer of a task in so many frames. What goes wrong is said to the coordinator, who decides. */
  async carry(
    shard: RemoteShard,
    taskFrames: readonly Buffer[],
    taskCount: number,
    begins: (task: ShardTask) => void,
  ): Promise<void> {
    try {
      const task = this.task(taskFrames, taskCount);
      begins(task);
      await this.phases(await shard.begin(task));
    } catch (thrown) {
      if (thrown instanceof RunMovedOn) return;
      // Who slept or was cut off has no say: another worker may be doing well.
      await this.checkLock();
      const what = { phase: this.phase, outcome: outcomeOf(thrown), reason: reasonOf(thrown) };
      this.mail.say('coordinator', { shard: this.job.shard, ...what } satisfies Words);
    }
  }

  /** Waits until all that was said has arrived. Throws ClusterFailure when Redis is full or gone. */
  async settled(): Promise<void> {
    try {
      await this.mail.settled();
    } catch (thrown) {
      if (!(thrown instanceof RunMovedOn)) throw thrown;
    }
  }

  private async phases(layer: RemoteLayer): Promise<void> {
    const { shard } = this.job;
    await layer.dispatch();
    await this.exchange(layer, 'dispatch');
    this.begins('compute');
    const out = await layer.compute();
    await this.exchange(layer, 'combine');
    this.begins('combine');
    const receivedBytes = out + (await layer.combine());
    const channel = resultsChannel(this.beginning, shard);
    const { mail, arrivals } = this;
    // Nobody waits for its arrival here; the holder looks after that.
    await mail.conclude(
      { to: 'coordinator', channel, blocks: layer.results() },
      (): Words => ({ shard, receivedBytes, sentBytes: mail.bytesSent, refused: arrivals.refused }),
    );
  }

  /** Tells how far the layer is when that takes so long that someone may wonder. */
  private begins(phase: 'compute' | 'combine'): void {
    this.phase = phase;
    if (performance.now() - this.told < TELL_MS) return;
    this.told = performance.now();
    this.mail.say('progress', { shard: this.job.shard, begins: phase } satisfies Progress);
  }

  /** Sends the rows of a leg, and accepts what arrives meanwhile until all of the leg is there. */
  private async exchange(layer: RemoteLayer, leg: Leg): Promise<void> {
    for (const { from, to, bytes } of layer.blocksTo(leg, this.job.shard)) {
      layer.accept(leg, from, to, 0, bytes);
    }
    await this.mail.send(this.letters(layer, leg));
    while (!layer.complete(leg)) {
      const entries = await this.read(this.inbox);
      // What was written before has been answered before; a late writer learns it here.
      await this.mail.settled();
      this.accept(layer, entries);
    }
  }

  private accept(layer: RemoteLayer, entries: readonly Entry[]): void {
    for (const entry of entries) {
      const taken = this.arrivals.take(entry.bytes);
      if (taken === null || taken.from === 'task') continue;
      try {
        for (const piece of taken.frame.pieces) {
          layer.accept(taken.from, piece.from, piece.to, piece.offset, piece.bytes);
        }
      } catch (thrown) {
        throw new FramesLost(reasonOf(thrown));
      }
    }
  }

  private task(frames: readonly Buffer[], count: number): ShardTask {
    const taken = frames.flatMap((bytes) => this.arrivals.take(bytes) ?? []);
    if (taken.length !== count) throw new FramesLost(`${count - taken.length} of ${count} frames of a task`);
    return decodeTask(Buffer.concat(taken.flatMap(({ frame }) => frame.pieces.map(({ bytes }) => bytes))));
  }

  private *letters(layer: RemoteLayer, leg: Leg): Generator<Letter> {
    const { shard, bounds } = this.job;
    for (let to = 0; to + 1 < bounds.length; to++) {
      if (to === shard) continue;
      const channel = rowsChannel(this.beginning, leg, shard, to);
      yield { to, channel, blocks: layer.blocksTo(leg, to) };
    }
  }

  /** What may arrive. */
  private channels(): Map<string, Leg | 'task'> {
    const { beginning } = this;
    const { shard, bounds } = this.job;
    const channels = new Map<string, Leg | 'task'>([[taskChannel(beginning, shard), 'task']]);
    for (const leg of ['dispatch', 'combine'] as const) {
      for (let from = 0; from + 1 < bounds.length; from++) {
        channels.set(rowsChannel(beginning, leg, from, shard), leg);
      }
    }
    return channels;
  }
}

/** What an error means for the run that waits. */
export function outcomeOf(thrown: unknown): 'lost' | 'full' | 'failed' {
  if (thrown instanceof RedisFull) return 'full';
  if (thrown instanceof FramesLost || thrown instanceof ClusterFailure) return 'lost';
  return 'failed';
}
