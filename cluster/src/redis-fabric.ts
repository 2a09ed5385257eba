/**
 * Shards in other processes, reached through Redis: the coordinator's side.
 * One idea: a run is one flow with a job for each shard, and a layer is one order to all of them and their results
 * back; the shards exchange rows among themselves. When anything is lost on the way the layer begins again, in new
 * inboxes, from tasks and seeds, and gives the same bits.
 * Knows nothing about locks and who holds a shard; those are BullMQ's.
 */
import type { CarriedLayer, LayerWork, ShardFabric } from '@epsim/engine';
import { ClusterFailure } from '@epsim/transport';
import {
  FramesLost,
  fullRedis,
  inboxKey,
  JobsLost,
  LOOK_MS,
  laneQueue,
  Mail,
  MailReader,
  noRefusals,
  ordersKey,
  ownersOf,
  type RedisRun,
  type RefusalCounts,
  RunMovedOn,
} from '@epsim/transport/redis';
import type { Redis } from 'ioredis';
import { addRefusals, Gathering } from './gathering.js';
import { SHARD_JOB, type ShardJobData } from './shard-job.js';
import { encodeTask } from './shard-task.js';

/** How often a layer is begun again before the run is given up. */
const MOST_BEGINNINGS = 10;
/** Longest wait for the shards to take leave at the end of a run. */
const FAREWELL_MS = 2000;
/** Shortest time between two looks at the memory that Redis uses. */
const MEASURE_MS = 100;

/** What carrying through Redis took; wall-clock figures, not results. */
export interface FabricFigures {
  /** Bytes of frames that shards sent, headers included. */
  readonly frameBytes: number;
  /** Most memory that Redis said it used at the end of a layer, everything in it. */
  readonly redisBytesMost: number;
  readonly layersBegunAgain: number;
  readonly refused: RefusalCounts;
}

export interface RedisFabric extends ShardFabric {
  figures(): FabricFigures;
}

export interface FabricOptions {
  readonly version: string;
  /** Longest time without any progress of any shard. */
  readonly phaseMs: number;
  readonly note: (text: string) => void;
}

export function redisFabric(run: RedisRun, options: FabricOptions): RedisFabric {
  const fabric = new Fabric(run, options);
  return {
    carryLayer: (work) => fabric.carryLayer(work),
    close: () => fabric.close(),
    figures: () => fabric.figures,
  };
}

/** True for what a new beginning mends: jobs, rows or the run's own key were lost. */
export function mayBeginAgain(thrown: unknown): thrown is Error {
  return thrown instanceof JobsLost || thrown instanceof FramesLost || thrown instanceof RunMovedOn;
}

class Fabric {
  readonly figures = { frameBytes: 0, redisBytesMost: 0, layersBegunAgain: 0, refused: noRefusals() };
  private readonly redis: Redis;
  private readonly reader: MailReader;
  private beginnings = 0;
  private measured = Number.NEGATIVE_INFINITY;
  private shardCount = 0;
  /** The run's flow; null before the first layer and after its jobs were lost. */
  private flow: Promise<unknown> | null = null;
  private flowFailure: Error | null = null;

  constructor(
    private readonly run: RedisRun,
    private readonly options: FabricOptions,
  ) {
    this.redis = run.connection();
    this.reader = new MailReader(this.redis, run.patienceMs);
  }

  async carryLayer(work: LayerWork): Promise<CarriedLayer> {
    for (let tries = 1; ; tries++) {
      const beginning = this.beginnings++;
      try {
        return await this.begin(work, beginning);
      } catch (thrown) {
        if (!mayBeginAgain(thrown)) throw thrown;
        const place = `layer ${work.layer} of step ${work.step}`;
        if (tries === MOST_BEGINNINGS) {
          throw new ClusterFailure(
            `${place} was lost ${tries} times, the last time because ${thrown.message}`,
          );
        }
        this.figures.layersBegunAgain++;
        this.options.note(`${place} begins again: ${thrown.message}`);
        await this.run.showAgain();
      } finally {
        this.run.remove(this.inboxes(beginning)).catch(() => {});
      }
    }
  }

  /** Tells the shards that the run is over, and clears away what is left. */
  async close(): Promise<void> {
    const { flow } = this;
    await this.run.close(async () => {
      if (flow === null) return;
      this.mail(this.beginnings).order(Array(this.shardCount).fill({ order: { over: true } }));
      await flow;
    }, FAREWELL_MS);
  }

  private async begin(work: LayerWork, beginning: number): Promise<CarriedLayer> {
    this.startJobs(work);
    // Asked before anything is sent on the same connection, so the answer comes before any that Redis is full.
    const room = this.checkRoom(work);
    const { step, layer } = work;
    const tasks = work.parts.map((part, shard) =>
      encodeTask({ part, step, layer, memoryBytes: work.mostBytes[shard] }),
    );
    const mail = this.mail(beginning);
    mail.open(tasks);
    const gathering = new Gathering(work, this.run.id, beginning);
    const opened = room.then(() => mail.settled());
    opened.catch(() => {});
    await this.gather(gathering, beginning, opened);
    this.measureMemory();
    this.figures.frameBytes += gathering.sentBytes;
    addRefusals(this.figures.refused, gathering.refused);
    const { receivedBytes, outputs } = gathering;
    return { receivedBytes, output: (rank) => outputs[rank] };
  }

  /** Asks what Redis uses before the inboxes are removed; not waited for, and not too often. */
  private measureMemory(): void {
    if (performance.now() - this.measured < MEASURE_MS) return;
    this.measured = performance.now();
    this.run.memory(this.redis).then(
      ({ used }) => {
        this.figures.redisBytesMost = Math.max(this.figures.redisBytesMost, used);
      },
      () => {},
    );
  }

  /** Reads what the shards say until all are done. */
  private async gather(gathering: Gathering, beginning: number, opened: Promise<void>): Promise<void> {
    const { phaseMs } = this.options;
    const inbox = inboxKey(this.run.id, beginning, 'coordinator');
    const progress = inboxKey(this.run.id, beginning, 'progress');
    let latest = performance.now();
    for (let silent = false; !gathering.complete; ) {
      // The shards' progress is only of interest when their answers are long in coming.
      const entries = await this.reader.read(silent ? [inbox, progress] : [inbox], LOOK_MS);
      await opened;
      for (const entry of entries) {
        if (entry.key === inbox) gathering.take(entry);
        else gathering.note(entry);
      }
      if (this.flowFailure !== null) throw this.flowFailure;
      silent = entries.length === 0 || silent;
      if (entries.length > 0) latest = performance.now();
      else await this.look(beginning, performance.now() - latest);
      if (performance.now() - latest > phaseMs) {
        throw new ClusterFailure(`no answer within ${Math.round(phaseMs / 1000)} s: ${gathering.missing}`);
      }
    }
  }

  /** Throws when the answers that are waited for cannot come. */
  private async look(beginning: number, silentMs: number): Promise<void> {
    const orders = Array.from({ length: this.shardCount }, (_, shard) => ordersKey(this.run.id, shard));
    if (!(await this.run.keep([...this.inboxes(beginning), ...orders]))) {
      throw new JobsLost('Redis has lost its inboxes');
    }
    const { used, most } = await this.run.memory();
    if (most !== null && used >= most && silentMs > this.run.patienceMs) throw fullRedis();
  }

  private mail(beginning: number): Mail {
    return new Mail(this.redis, this.run.mailOptions, beginning);
  }

  private inboxes(beginning: number): string[] {
    return ownersOf(this.shardCount).map((owner) => inboxKey(this.run.id, beginning, owner));
  }

  /** One job for each shard, in one flow that lasts as long as the run. */
  private startJobs({ parts, plans }: LayerWork): void {
    if (this.flow !== null) return;
    this.shardCount = parts.length;
    const bounds = [...parts.map((part) => part.spec.firstRank), plans.length];
    const { version } = this.options;
    this.flowFailure = null;
    const flow = this.run.jobs(
      parts.map((_, shard) => {
        const data: ShardJobData = { version, shard, bounds, ...this.run.mailOptions };
        return { queue: laneQueue(shard), name: SHARD_JOB, data };
      }),
    );
    this.flow = flow;
    flow.catch((thrown: Error) => {
      this.flowFailure = thrown;
      this.flow = null;
    });
  }

  /** Both legs of a layer lie in Redis at once. Throws ClusterFailure when its limit has no room for them. */
  private async checkRoom(work: LayerWork): Promise<void> {
    const { used, most } = await this.run.memory(this.redis);
    if (most === null) return;
    const { hiddenSize } = work.parts[0].spec.model;
    let needed = 0;
    for (const plan of work.plans) {
      needed += plan.sendTokens.length * (work.rowBytes.dispatch + work.rowBytes.combine);
      needed += plan.tokenCount * hiddenSize * 4 + plan.groupRows.length * 8 + plan.sendTokens.length * 4;
    }
    if (used + needed <= most) return;
    const mib = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
    throw new ClusterFailure(
      `layer ${work.layer} of step ${work.step} needs ${mib(needed)} in Redis, which uses ${mib(used)} of ${mib(most)} (maxmemory); raise maxmemory, or carry fewer tokens (carry.tokensPerRank)`,
    );
  }
}
