/**
 * The coordinator's side of one run: registers it, sends the jobs of a phase as one BullMQ flow whose parent is the
 * barrier after them, and clears away what is left at the end.
 * One idea: a phase either gives every answer or is lost as a whole, within a bound; what to do then is the caller's.
 */
import { type FlowJob, FlowProducer } from 'bullmq';
import type { Redis } from 'ioredis';
import { ClusterFailure } from '../failure.js';
import { addressOf, atMost, bounded, openRedis, sleep } from './connection.js';
import { channelKey, JOB_PREFIX, runQueue } from './keys.js';
import { showRun, versionConflict, type WorkerCard, workersPresent } from './presence.js';
import { QuietWorker } from './quiet-worker.js';
import { FrameStore, fullRedis, redisFull } from './store.js';
import { sweepUp, unlinkMatching } from './sweep-up.js';

export interface RunOptions {
  readonly url: string;
  /** Names the run in Redis; unique, of letters, digits and dashes. */
  readonly run: string;
  readonly version: string;
  /** The run counts as left by its coordinator after so long a silence. */
  readonly lifeMs: number;
  /** Longest wait for Redis or for a worker to be there. */
  readonly patienceMs: number;
  /** Longest time for one phase, whatever happens in it. */
  readonly phaseMs: number;
  readonly note: (text: string) => void;
}

export interface PhaseJob {
  readonly queue: string;
  readonly name: string;
  readonly data: unknown;
}

/** A phase that will give no answer; it may be tried again from what came before. */
export class PhaseLost extends Error {
  override readonly name = 'PhaseLost';
}

interface Pending {
  readonly resolve: (values: Record<string, unknown>) => void;
  readonly reject: (thrown: Error) => void;
}

/** How often a wait looks whether its answer can still come. */
const LOOK_MS = 1000;

export class RedisRun {
  private readonly flow: FlowProducer;
  private readonly barrier: QuietWorker;
  private readonly pending = new Map<string, Pending>();
  private readonly beat: NodeJS.Timeout;
  private epoch = 0;
  private phases = 0;

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
        this.pending.get(String(job.id))?.resolve(await job.getChildrenValues());
      },
      { connection, prefix: JOB_PREFIX, lockDuration: options.lifeMs, stalledInterval: options.lifeMs },
    );
    this.barrier.on('failed', (job, error) => {
      this.pending.get(String(job?.id))?.reject(new PhaseLost(error.message));
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

  /** The token under which workers may write now. */
  get token(): string {
    return `${this.options.run}.${this.epoch}`;
  }

  /** Rows of earlier attempts are removed, and what they still write is refused. */
  async newEpoch(): Promise<void> {
    this.epoch++;
    await this.ask(this.show());
    await this.ask(unlinkMatching(this.redis, channelKey(this.options.run, '*')));
  }

  /** Says again that the run is driven, for when Redis has forgotten it. */
  async showAgain(): Promise<void> {
    await this.ask(this.show());
  }

  store(): FrameStore {
    const { run, phaseMs, patienceMs } = this.options;
    return new FrameStore(this.redis, { run, token: this.token, expireMs: 4 * phaseMs, patienceMs });
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

  /** Bytes that Redis holds now and may hold; `most` is null without a limit. */
  async memory(): Promise<{ used: number; most: number | null }> {
    const info = await this.ask(this.redis.info('memory'));
    const field = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
    return { used: field('used_memory'), most: field('maxmemory') || null };
  }

  /**
   * The answers of all jobs, in their order. Throws PhaseLost when one failed or Redis forgot them, and
   * ClusterFailure when the bound is over, no worker is left, or Redis is away or full for too long.
   */
  async phase(jobs: readonly PhaseJob[]): Promise<unknown[]> {
    const { run } = this.options;
    const id = `${run}.${this.epoch}.${this.phases++}`;
    const childId = (i: number) => `${id}.${i}`;
    const tree: FlowJob = {
      name: 'phase',
      queueName: runQueue(run),
      opts: { jobId: id, removeOnComplete: true, removeOnFail: true },
      children: jobs.map((job, i) => ({
        name: job.name,
        queueName: job.queue,
        data: job.data,
        opts: { jobId: childId(i), removeOnComplete: true, removeOnFail: true, failParentOnFailure: true },
      })),
    };
    const answered = new Promise<Record<string, unknown>>((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
    });
    answered.catch(() => {});
    try {
      await this.ask(this.flow.add(tree));
      const values = await this.watch(id, answered);
      return jobs.map((job, i) => values[`${JOB_PREFIX}:${job.queue}:${childId(i)}`]);
    } finally {
      this.pending.delete(id);
    }
  }

  /** Removes everything of the run from Redis, as far as Redis is there, and disconnects. */
  async close(): Promise<void> {
    clearInterval(this.beat);
    const { run, patienceMs } = this.options;
    await atMost(this.barrier.close(true), 1000);
    this.barrier.abandon();
    if (this.redis.status === 'ready') await atMost(sweepUp(this.redis, run), patienceMs);
    await atMost(this.flow.close(), 1000);
    this.redis.disconnect();
  }

  private async watch(
    id: string,
    answered: Promise<Record<string, unknown>>,
  ): Promise<Record<string, unknown>> {
    const { patienceMs, phaseMs, run } = this.options;
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
      if (now - started > phaseMs) {
        throw new ClusterFailure(`a phase gave no answer within ${Math.round(phaseMs / 1000)} s`);
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
        throw new PhaseLost('Redis has lost the jobs');
      }
    }
  }

  private async register(): Promise<void> {
    await this.ask(this.show());
    const conflict = versionConflict(await this.workers(), this.options.version);
    if (conflict) throw new ClusterFailure(conflict);
  }

  private show(): Promise<void> {
    return showRun(this.redis, this.options.run, this.token, this.options.lifeMs);
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
