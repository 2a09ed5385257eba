/**
 * What a worker process does with a job: fetches the task and its rows, runs the phase on a thread, sends what
 * comes out. The thread computes so that this one goes on renewing locks and showing that it lives.
 * Its one idea: nothing outside the job decides the result, so a job may be done again anywhere, at any time.
 */
import { randomBytes } from 'node:crypto';
import { totalmem } from 'node:os';
import { type RemotePhase, RemoteShard, type ShardTask } from '@epsim/engine';
import { ClusterFailure, reasonOf, type ShardPool, threadShards } from '@epsim/transport';
import { type Channel, FrameStore, FramesLost, RunMovedOn } from '@epsim/transport/redis';
import { shardEntry } from '@epsim/workers';
import type { Redis } from 'ioredis';
import { type PhaseAnswer, type PhaseJobData, phaseJobSchema } from './phase-job.js';
import { decodeTask } from './shard-task.js';

export interface PhaseWorkerOptions {
  readonly version: string;
  readonly threads: number;
  /** Longest time that a thread may compute on one phase. */
  readonly phaseMs: number;
}

interface Held {
  readonly shard: RemoteShard;
  task: { readonly channel: string; readonly value: ShardTask } | null;
}

export class PhaseWorker {
  private pool: ShardPool | null = null;
  /** Shards by run and number, the one used last at the end. */
  private readonly held = new Map<string, Held>();

  constructor(private readonly options: PhaseWorkerOptions) {}

  /** Does one job of unchecked data. Never throws: what goes wrong is the answer. */
  async handle(data: unknown, redis: Redis): Promise<PhaseAnswer> {
    const parsed = phaseJobSchema.safeParse(data);
    if (!parsed.success) return { outcome: 'refused', reason: parsed.error.issues[0].message };
    const job = parsed.data;
    if (job.version !== this.options.version) {
      const reason = `the run is version ${job.version}, this worker ${this.options.version}; versions do not mix`;
      return { outcome: 'refused', reason };
    }
    const { run, token, expireMs, patienceMs } = job;
    const store = new FrameStore(redis, { run, token, expireMs, patienceMs });
    try {
      await store.checkToken();
      return await this.run(job, store);
    } catch (thrown) {
      return { outcome: outcomeOf(thrown), reason: reasonOf(thrown) };
    }
  }

  async close(): Promise<void> {
    await this.pool?.close();
  }

  private async run(job: PhaseJobData, store: FrameStore): Promise<PhaseAnswer> {
    const held = this.hold(`${job.run}/${job.shard}`);
    const task = await taskOf(job, held, store);
    const phase = await this.guard(() => held.shard.begin(task, job.phase));
    await store.takeAll(job.inputs, ({ from, to, offset, bytes }) => {
      try {
        phase.accept(from, to, offset, bytes);
      } catch (thrown) {
        throw new FramesLost(reasonOf(thrown));
      }
    });
    const receivedBytes = await this.guard(() => phase.run());
    const sent = await this.send(job, phase, store);
    this.forget();
    return { outcome: 'done', receivedBytes, sent, sentBytes: store.bytesSent, refused: store.refused };
  }

  private async send(job: PhaseJobData, phase: RemotePhase, store: FrameStore): Promise<Channel[]> {
    // A name that no other attempt has: who is late writes where nobody reads.
    const attempt = randomBytes(6).toString('hex');
    const name = (to: string) => `rows.${job.task.channel}.${job.phase}.${to}.${job.shard}.${attempt}`;
    if (job.phase === 'combine') return [await store.put(name('results'), phase.results())];
    return store.putAll(
      job.bounds.slice(0, -1).map((first, to) => ({
        channel: name(String(to)),
        blocks: phase.blocksTo(first, job.bounds[to + 1]),
      })),
    );
  }

  /** A pool that failed is closed; the next call gets a new one. */
  private async guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (thrown) {
      await this.pool?.close();
      this.pool = null;
      throw thrown;
    }
  }

  private hold(key: string): Held {
    const held = this.held.get(key) ?? { shard: new RemoteShard(this.threads()), task: null };
    this.held.delete(key);
    this.held.set(key, held);
    return held;
  }

  /** Lets the longest unused shards go while all together use more than half of the machine. */
  private forget(): void {
    let used = 0;
    for (const { shard } of this.held.values()) used += shard.usedBytes;
    for (const [key, { shard }] of this.held) {
      if (used <= totalmem() / 2 || this.held.size === 1) break;
      used -= shard.usedBytes;
      this.held.delete(key);
    }
  }

  /** A pool whose threads start at the first call, and again after a failure. */
  private threads(): ShardPool {
    return {
      name: 'thread',
      callAll: (calls) => {
        const { threads, phaseMs } = this.options;
        this.pool ??= threadShards({ entry: shardEntry, workers: threads, timeoutMs: phaseMs });
        return this.pool.callAll(calls);
      },
      close: async () => {},
    };
  }
}

async function taskOf(job: PhaseJobData, held: Held, store: FrameStore): Promise<ShardTask> {
  if (held.task?.channel === `${job.token}/${job.task.channel}`) return held.task.value;
  const parts: Buffer[] = [];
  await store.take(job.task, ({ bytes }) => parts.push(Buffer.from(bytes)));
  const value = decodeTask(Buffer.concat(parts));
  held.task = { channel: `${job.token}/${job.task.channel}`, value };
  return value;
}

/** What an error means for the run that waits. */
export function outcomeOf(thrown: unknown): 'stale' | 'lost' | 'full' | 'failed' {
  if (thrown instanceof RunMovedOn) return 'stale';
  if (thrown instanceof FramesLost) return 'lost';
  if (thrown instanceof ClusterFailure) return 'full';
  return 'failed';
}
