/**
 * The coordinator's side of one run: registers it, sends jobs as one BullMQ flow whose parent ends when they all have,
 * and clears away what is left at the end.
 * One idea: a flow either gives every answer or is lost as a whole; what to do then is the caller's.
 */
import { type FlowJob, FlowProducer } from 'bullmq';
import type { Redis } from 'ioredis';
import { ClusterFailure } from '../failure.js';
import { addressOf, atMost, bounded, openRedis, sleep } from './connection.js';
import { JOB_PREFIX, runQueue } from './keys.js';
import type { MailOptions } from './mail.js';
import { showRun, versionConflict, type WorkerCard, workersPresent } from './presence.js';
import { QuietWorker } from './quiet-worker.js';
import { FrameStore, fullRedis, redisFull } from './store.js';
import { sweepUp } from './sweep-up.js';

export interface RunOptions {
  readonly url: string;
  /** Names the run in Redis; unique, of letters, digits and dashes. */
  readonly run: string;
  readonly version: string;
  /** The run counts as left by its coordinator after so long a silence. */
  readonly lifeMs: number;
  /** Longest wait for Redis or for a worker to be there. */
  readonly patienceMs: number;
  /** Life in Redis of what nobody removes. */
  readonly expireMs: number;
  readonly note: (text: string) => void;
}

export interface RunJob {
  readonly queue: string;
  readonly name: string;
  readonly data: unknown;
}

/** Jobs that will give no answer; they may be sent again. */
export class JobsLost extends Error {
  override readonly name = 'JobsLost';
}

interface Pending {
  readonly resolve: (values: Record<string, unknown>) => void;
  readonly reject: (thrown: Error) => void;
}

/** How often a wait looks whether its answer can still come. */
export const LOOK_MS = 1000;
/** How often BullMQ tries a job that a worker gave up. */
const MOST_ATTEMPTS = 10;

export class RedisRun {
  private readonly flow: FlowProducer;
  private readonly barrier: QuietWorker;
  private readonly pending = new Map<string, Pending>();
  private readonly beat: NodeJS.Timeout;
  private flows = 0;
  /** Those that were given out. */
  private readonly connections: Redis[] = [];

  private constructor(
    private readonly redis: Redis,
    private readonly options: RunOptions,
  ) {
    const connection = redis;
    const quiet = () => {};
    this.flow = new FlowProducer({ connection, prefix: JOB_PREFIX });
    this.flow.on('error', quiet);
    this.barrier = new QuietWorker(
      runQueue(options.run),
      async (job) => {
        const pending = this.pending.get(String(job.id));
        const [why] = Object.values(await job.getIgnoredChildrenFailures());
        if (why === undefined) pending?.resolve(await job.getChildrenValues());
        else pending?.reject(new ClusterFailure(`a job failed: ${why}`));
      },
      { connection, prefix: JOB_PREFIX, lockDuration: options.lifeMs, stalledInterval: options.lifeMs },
    );
    this.barrier.on('failed', (job, error) => {
      this.pending.get(String(job?.id))?.reject(new JobsLost(error.message));
    });
    this.beat = setInterval(() => void this.show().catch(quiet), options.lifeMs / 5);
    this.beat.unref();
  }

  /** Connects and registers. Throws ClusterFailure when Redis cannot be used or workers have another version. */
  static async open(options: RunOptions): Promise<RedisRun> {
    const redis = await openRedis(options.url, options.patienceMs, options.run);
    const run = new RedisRun(redis, options);
    try {
      await run.register();
      return run;
    } catch (thrown) {
      await run.close();
      throw thrown;
    }
  }

  get id(): string {
    return this.options.run;
  }

  get patienceMs(): number {
    return this.options.patienceMs;
  }

  /** Says again that the run is driven, for when Redis has forgotten it. */
  async showAgain(): Promise<void> {
    await this.ask(this.show());
  }

  /** A connection for what waits inside Redis; it ends with the run. */
  connection(): Redis {
    const redis = this.redis.duplicate();
    redis.on('error', () => {});
    this.connections.push(redis);
    return redis;
  }

  get mailOptions(): MailOptions {
    const { run, expireMs, patienceMs } = this.options;
    return { run, expireMs, patienceMs };
  }

  /** Gives these keys their whole life again; false when one of them is not in Redis. */
  async keep(keys: readonly string[]): Promise<boolean> {
    const pipeline = this.redis.pipeline();
    for (const key of keys) pipeline.pexpire(key, this.options.expireMs);
    const answers = (await this.ask(pipeline.exec())) ?? [];
    return answers.every(([error, kept]) => error === null && kept === 1);
  }

  store(): FrameStore {
    return new FrameStore(this.redis, { ...this.mailOptions, token: this.id });
  }

  async workers(): Promise<WorkerCard[]> {
    return this.ask(workersPresent(this.redis));
  }

  /** Waits until a worker is there. Throws ClusterFailure when none comes, or one of another version does. */
  async waitForWorkers(): Promise<WorkerCard[]> {
    const { patienceMs, version, url, note } = this.options;
    const started = performance.now();
    for (let told = false; ; ) {
      const present = await this.workers();
      const conflict = versionConflict(present, version);
      if (conflict) throw new ClusterFailure(conflict);
      if (present.length > 0) return present;
      const { shown } = addressOf(url);
      if (performance.now() - started > patienceMs) {
        throw new ClusterFailure(
          `no worker joined ${shown} within ${Math.round(patienceMs / 1000)} s; start one: epsim worker --redis ${shown}`,
        );
      }
      if (!told) note(`waiting for a worker; start one: epsim worker --redis ${shown}`);
      told = true;
      await sleep(Math.min(200, patienceMs / 5));
    }
  }

  /** Bytes that Redis holds now and may hold, asked on a connection; `most` is null without a limit. */
  async memory(redis: Redis = this.redis): Promise<{ used: number; most: number | null }> {
    const info = await this.ask(redis.info('memory'));
    const field = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
    return { used: field('used_memory'), most: field('maxmemory') || null };
  }

  /**
   * The answers of all jobs, in their order. Throws JobsLost when Redis forgot them, and ClusterFailure when one
   * failed for good, they take longer than `boundMs`, no worker is left, or Redis is away or full for too long.
   */
  async jobs(jobs: readonly RunJob[], boundMs = Number.POSITIVE_INFINITY): Promise<unknown[]> {
    const { run } = this.options;
    const id = `${run}.${this.flows++}`;
    const childId = (i: number) => `${id}.${i}`;
    const tree: FlowJob = {
      name: 'run',
      queueName: runQueue(run),
      opts: { jobId: id, removeOnComplete: true, removeOnFail: true },
      children: jobs.map((job, i) => ({
        name: job.name,
        queueName: job.queue,
        data: job.data,
        opts: {
          ...{ jobId: childId(i), removeOnComplete: true, removeOnFail: true, continueParentOnFailure: true },
          ...{ attempts: MOST_ATTEMPTS, backoff: { type: 'fixed', delay: LOOK_MS } },
        },
      })),
    };
    const answered = new Promise<Record<string, unknown>>((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
    });
    answered.catch(() => {});
    try {
      await this.ask(this.flow.add(tree));
      const values = await this.watch(id, answered, boundMs);
      return jobs.map((job, i) => values[`${JOB_PREFIX}:${job.queue}:${childId(i)}`]);
    } finally {
      this.pending.delete(id);
    }
  }

  /**
   * Removes everything of the run from Redis, as far as Redis is there, and disconnects. Before that, `farewell` may
   * take so long.
   */
  async close(farewell: () => Promise<unknown> = async () => {}, farewellMs = 0): Promise<void> {
    clearInterval(this.beat);
    const { run, patienceMs } = this.options;
    const there = this.redis.status === 'ready';
    if (there) await atMost(farewell(), farewellMs);
    // What is still on its way must arrive before the run is cleared away, or never.
    await Promise.all(this.connections.map(hangUp));
    await atMost(this.barrier.close(true), 1000);
    this.barrier.abandon();
    if (there) await atMost(sweepUp(this.redis, run), patienceMs);
    await atMost(this.flow.close(), 1000);
    this.redis.disconnect();
  }

  private async watch(
    id: string,
    answered: Promise<Record<string, unknown>>,
    boundMs: number,
  ): Promise<Record<string, unknown>> {
    const { patienceMs, run } = this.options;
    const started = performance.now();
    let seenWorker = started;
    for (;;) {
      let timer: NodeJS.Timeout | undefined;
      const look = new Promise<null>((resolve) => {
        timer = setTimeout(() => resolve(null), LOOK_MS);
      });
      const values = await Promise.race([answered, look]).finally(() => clearTimeout(timer));
      if (values !== null) return values;
      const now = performance.now();
      if (now - started > boundMs) {
        throw new ClusterFailure(`a job gave no answer within ${Math.round(boundMs / 1000)} s`);
      }
      if ((await this.workers()).length > 0) seenWorker = performance.now();
      if (now - seenWorker > patienceMs) {
        const { used, most } = await this.memory();
        // A full Redis takes no signs of life either.
        if (most !== null && used >= most) throw fullRedis();
        throw new ClusterFailure(`no worker has been there for ${Math.round(patienceMs / 1000)} s`);
      }
      const there = await this.ask(this.redis.exists(`${JOB_PREFIX}:${runQueue(run)}:${id}`));
      // The barrier's own worker may have just taken it away: one more look decides.
      if (there === 0) {
        const late = await Promise.race([answered, sleep(LOOK_MS).then(() => null)]);
        if (late !== null) return late;
        throw new JobsLost('Redis has lost the jobs');
      }
    }
  }

  private async register(): Promise<void> {
    await this.ask(this.show());
    const conflict = versionConflict(await this.workers(), this.options.version);
    if (conflict) throw new ClusterFailure(conflict);
  }

  private show(): Promise<void> {
    return showRun(this.redis, this.id, this.id, this.options.lifeMs);
  }

  private async ask<T>(promise: Promise<T>): Promise<T> {
    const { patienceMs, url } = this.options;
    try {
      return await bounded(promise, patienceMs, () => `${addressOf(url).shown}: Redis is away`);
    } catch (thrown) {
      throw redisFull(thrown) ?? thrown;
    }
  }
}

/** Ends a connection once all that was asked on it has been answered, or cannot be in time. */
async function hangUp(redis: Redis): Promise<void> {
  if (redis.status === 'ready') await atMost(redis.ping(), LOOK_MS + 1000);
  redis.disconnect();
}
