/**
 * The worker's side: takes jobs of the lanes that fall to it, and shows its card.
 * One idea: queues, locks and the recovery of jobs whose worker died are BullMQ's. Here is only which lanes are
 * listened to, and that changes when workers come and go.
 * Knows nothing about what a job means.
 */
import { type Job, WaitingError } from 'bullmq';
import type { Redis } from 'ioredis';
import { ClusterFailure } from '../failure.js';
import { atMost, bounded, openRedis } from './connection.js';
import { JOB_PREFIX, laneQueue, POINTS } from './keys.js';
import {
  lanesOf,
  redisTime,
  showCard,
  takeCardAway,
  versionConflict,
  type WorkerCard,
  workersPresent,
} from './presence.js';
import { QuietWorker } from './quiet-worker.js';
import { sweepUpSilentRuns } from './sweep-up.js';

export interface ServeOptions {
  readonly url: string;
  readonly id: string;
  readonly version: string;
  readonly host: string;
  readonly pid: number;
  readonly threads: number;
  /** A worker that is silent for so long has lost its job to another one. */
  readonly lockMs: number;
  /** Longest time that Redis may be away before the worker gives up. */
  readonly patienceMs: number;
  /** Does one job; `data` is unchecked. What it returns goes to the coordinator, as JSON; or GIVEN_BACK. */
  readonly handle: (name: string, data: unknown, redis: Redis, hold: Hold) => Promise<unknown>;
  readonly note: (text: string) => void;
}

/** What a long job must know of its lock. */
export interface Hold {
  /** Aborted when another worker's turn has come: finish what cannot be left, and return GIVEN_BACK. */
  readonly leave: AbortSignal;
  /** Where the lock lies in Redis, and what it holds while the job is ours. Who finds something else there stops. */
  readonly lock: { readonly key: string; readonly token: string };
  /** Takes what tells people what is being done. */
  readonly doing: (text: () => string) => void;
}

/** The answer of a handler whose job shall go back to its queue, for another worker. */
export const GIVEN_BACK = Symbol('given back');

export interface Serving {
  /** Ends when the worker gives up: with a ClusterFailure. Never ends otherwise. */
  readonly failed: Promise<never>;
  /** Finishes the jobs in hand, takes the card away and disconnects. */
  close(): Promise<void>;
}

/** Joins the cluster. Throws ClusterFailure when Redis cannot be used or holds workers of another version. */
export async function serve(options: ServeOptions): Promise<Serving> {
  const redis = await openRedis(options.url, options.patienceMs, options.id);
  const server = new LaneServer(redis, options);
  try {
    await bounded(server.join(), options.patienceMs, () => 'Redis does not answer');
  } catch (thrown) {
    redis.disconnect();
    throw thrown;
  }
  return { failed: server.failed, close: () => server.close() };
}

/** One queue that is listened to. */
interface Listening {
  readonly worker: QuietWorker;
  readonly leave: AbortController;
}

/** Shards of many runs may be held at a time; they share the threads. */
const MOST_HELD = 10_000;

class LaneServer {
  readonly failed: Promise<never>;
  private fail: (failure: ClusterFailure) => void = () => {};
  private readonly lanes = new Map<number, Listening>();
  private readonly closing = new Map<number, Promise<void>>();
  private readonly inHand = new Map<Job, () => string>();
  /** Listens for points of sweeps, which fall to whoever is free. */
  private points: Listening | null = null;
  private joined = 0;
  private jobsDone = 0;
  private silentSince: number | null = null;
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(
    private readonly redis: Redis,
    private readonly options: ServeOptions,
  ) {
    this.failed = new Promise<never>((_, reject) => {
      this.fail = reject;
    });
    this.failed.catch(() => {});
  }

  async join(): Promise<void> {
    const conflict = versionConflict(await workersPresent(this.redis), this.options.version);
    if (conflict) throw new ClusterFailure(conflict);
    this.joined = await redisTime(this.redis);
    await this.beat();
    this.points = this.listen(POINTS, this.options.threads);
    this.schedule();
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    const { lockMs } = this.options;
    const listening = [...this.lanes.values(), ...(this.points ? [this.points] : [])];
    for (const { leave } of listening) leave.abort();
    const workers = listening.map(({ worker }) => worker);
    // Without Redis no job can end; a job that does not end is left to its lock.
    const force = this.redis.status !== 'ready';
    const left = [...this.closing.values(), ...workers.map((worker) => worker.close(force))];
    await atMost(Promise.all(left), 2 * lockMs);
    for (const worker of workers) worker.abandon();
    await atMost(takeCardAway(this.redis, this.options.id), 1000);
    this.redis.disconnect();
  }

  private schedule(): void {
    this.timer = setTimeout(() => {
      const { lockMs, patienceMs } = this.options;
      bounded(this.beat(), lockMs, () => 'Redis does not answer')
        .then(
          () => {
            this.silentSince = null;
          },
          (thrown: Error) => {
            this.silentSince ??= performance.now();
            if (performance.now() - this.silentSince > patienceMs) {
              this.fail(new ClusterFailure(`Redis is away: ${thrown.message}`));
            }
          },
        )
        .finally(() => {
          if (!this.closed) this.schedule();
        });
    }, this.options.lockMs / 5);
  }

  /** Shows the card and the jobs' progress, deals the lanes anew, and clears away runs that nobody drives. */
  private async beat(): Promise<void> {
    await showCard(this.redis, this.card(), this.options.lockMs);
    for (const [job, text] of this.inHand) job.updateProgress({ doing: text() }).catch(() => {});
    if (this.closed) return;
    const mine = new Set(lanesOf(this.options.id, await workersPresent(this.redis)));
    for (const [lane, listening] of this.lanes) if (!mine.has(lane)) this.leave(lane, listening);
    for (const lane of mine) if (!this.lanes.has(lane) && !this.closing.has(lane)) this.take(lane);
    for (const run of await sweepUpSilentRuns(this.redis)) {
      this.options.note(`run ${run}: its coordinator is gone; cleared away`);
    }
  }

  private take(lane: number): void {
    this.lanes.set(lane, this.listen(laneQueue(lane), MOST_HELD));
  }

  private listen(queue: string, concurrency: number): Listening {
    const { lockMs } = this.options;
    const leave = new AbortController();
    const work = (job: Job, token = '') => this.work(job, token, leave.signal);
    const worker = new QuietWorker(queue, work, {
      connection: this.redis,
      prefix: JOB_PREFIX,
      concurrency,
      lockDuration: lockMs,
      stalledInterval: lockMs / 2,
      // A job that many workers died of is the coordinator's to give up, by its own bound.
      maxStalledCount: 1000,
    });
    return { worker, leave };
  }

  private leave(lane: number, { worker, leave }: Listening): void {
    this.lanes.delete(lane);
    leave.abort();
    const gone = worker
      .close()
      .catch(() => {})
      .finally(() => this.closing.delete(lane));
    this.closing.set(lane, gone);
  }

  private async work(job: Job, token: string, leave: AbortSignal): Promise<unknown> {
    const lock = { key: `${JOB_PREFIX}:${job.queueName}:${job.id}:lock`, token };
    const doing = (text: () => string) => void this.inHand.set(job, text);
    doing(() => `${job.name} ${job.id}`);
    try {
      const answer = await this.options.handle(job.name, job.data, this.redis, { leave, lock, doing });
      if (answer === GIVEN_BACK) {
        await job.moveToWait(token);
        throw new WaitingError();
      }
      this.jobsDone++;
      return answer;
    } finally {
      this.inHand.delete(job);
    }
  }

  private card(): WorkerCard {
    const { id, version, host, pid, threads } = this.options;
    const doing = [...this.inHand.values()].map((text) => text()).join(', ');
    return {
      ...{ id, version, host, pid, threads, joined: this.joined, jobsDone: this.jobsDone },
      lanes: [...this.lanes.keys()].sort((a, b) => a - b),
      doing: doing.slice(0, 200) || 'waiting',
    };
  }
}
