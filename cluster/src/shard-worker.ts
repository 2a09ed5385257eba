/**
 * What a worker process does with the job of a shard: has it held by a thread, which speaks to Redis itself and
 * computes, so that this one goes on renewing locks and showing that it lives.
 * Knows nothing about layers.
 */
import { reasonOf, type TaskThreads, taskThreads } from '@epsim/transport';
import { GIVEN_BACK, type Hold } from '@epsim/transport/redis';
import { type ShardJobData, shardJobSchema } from './shard-job.js';
import { type ShardTenure, STATE } from './shard-thread.js';

export interface ShardWorkerOptions {
  readonly url: string;
  readonly version: string;
  readonly threads: number;
  /** What Redis lists the threads' connections under. */
  readonly name: string;
}

/** A job that no worker of this version may do; BullMQ knows by the name that trying again is in vain. */
class Refused extends Error {
  override readonly name = 'UnrecoverableError';
}

export class ShardWorker {
  private threads: TaskThreads | null = null;

  constructor(private readonly options: ShardWorkerOptions) {}

  /** Starts the threads, so that the first job need not wait for them. */
  start(): TaskThreads {
    this.threads ??= taskThreads(new URL('./shard-thread.js', import.meta.url), this.options.threads);
    return this.threads;
  }

  /** Holds one shard until its run is over or another worker's turn has come. Throws for data that is no job of ours. */
  async handle(data: unknown, hold: Hold): Promise<typeof GIVEN_BACK | null> {
    const { url, name, version } = this.options;
    const parsed = shardJobSchema.safeParse(data);
    if (!parsed.success) throw new Refused(parsed.error.issues[0].message);
    const job = parsed.data;
    if (job.version !== version) {
      throw new Refused(`the run is version ${job.version}, this worker ${version}; versions do not mix`);
    }
    const state = new Int32Array(new SharedArrayBuffer(4 * Object.keys(STATE).length));
    const leave = () => void Atomics.store(state, STATE.leave, 1);
    if (hold.leave.aborted) leave();
    else hold.leave.addEventListener('abort', leave, { once: true });
    hold.doing(() => textOf(job, state));
    const tenure: ShardTenure = { job, url, name, state, lock: hold.lock };
    try {
      return (await this.start().run(tenure)) === 'over' ? null : GIVEN_BACK;
    } finally {
      hold.leave.removeEventListener('abort', leave);
    }
  }

  async close(): Promise<void> {
    await this.threads?.close().catch((thrown) => reasonOf(thrown));
  }
}

function textOf({ shard, run }: ShardJobData, state: Int32Array): string {
  return `shard ${shard} of ${run} at step ${Atomics.load(state, STATE.step)}, layer ${Atomics.load(state, STATE.layer)}`;
}
