/**
 * How the ranks of a run are shared out: one BullMQ flow with a job for each shard. It lasts until the run is over, or
 * until workers have come or gone and the ranks are shared out anew.
 * Knows nothing about layers.
 */
import { laneQueue, type Mail, ordersKey, type RedisRun } from '@epsim/transport/redis';
import { SHARD_JOB, type ShardJobData } from './shard-job.js';

export class Sharing {
  /** Why its jobs are lost; null while they are not. */
  failure: Error | null = null;
  /** Ends with the last of its jobs. Never throws. */
  readonly ended: Promise<void>;

  /** Sends the jobs. `bounds` are the first rank of each shard and the end, [shards + 1]. */
  constructor(
    private readonly run: RedisRun,
    version: string,
    readonly number: number,
    private readonly bounds: readonly number[],
  ) {
    const jobs = Array.from({ length: this.shardCount }, (_, shard) => {
      const data: ShardJobData = {
        ...{ version, sharing: number, shard, bounds: [...bounds] },
        ...run.mailOptions,
      };
      return { queue: laneQueue(shard), name: SHARD_JOB, data };
    });
    this.ended = run.jobs(jobs).then(
      () => {},
      (thrown: Error) => {
        this.failure = thrown;
      },
    );
  }

  get shardCount(): number {
    return this.bounds.length - 1;
  }

  /** The streams of its shards' orders. */
  get orders(): string[] {
    return Array.from({ length: this.shardCount }, (_, shard) => ordersKey(this.run.id, this.number, shard));
  }

  /** True when it shares out ranks like this, and its jobs are there. */
  serves(bounds: readonly number[]): boolean {
    return this.failure === null && this.bounds.join() === bounds.join();
  }

  /** Tells the shards that nothing more will come. */
  over(mail: Mail): void {
    mail.order(this.number, Array(this.shardCount).fill({ order: { over: true } }));
  }
}
