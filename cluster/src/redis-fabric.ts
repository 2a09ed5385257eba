/**
 * Shards in other processes, reached through Redis: the coordinator's side.
 * One idea: a layer is one order to all shards and their results back; the shards exchange rows among themselves.
 * When anything is lost on the way the layer begins again, in new inboxes, from tasks and seeds, and gives the same
 * bits.
 * Knows nothing about locks and who holds a shard; those are BullMQ's.
 */
import type { CarriedLayer, LayerWork, ShardFabric } from '@epsim/engine';
import { ClusterFailure } from '@epsim/transport';
import {
  FramesLost,
  fullRedis,
  inboxesOf,
  inboxKey,
  JobsLost,
  LOOK_MS,
  Mail,
  MailReader,
  noRefusals,
  type RedisRun,
  type RefusalCounts,
  RunMovedOn,
} from '@epsim/transport/redis';
import type { Redis } from 'ioredis';
import { addRefusals, Gathering } from './gathering.js';
import type { RollCall } from './roll-call.js';
import { encodeTask } from './shard-task.js';
import { Sharing } from './sharing.js';

/** How often a layer is begun again before the run is given up. */
const MOST_BEGINNINGS = 10;
/** Longest wait for the shards to take leave at the end of a run. */
const FAREWELL_MS = 2000;
/** Shortest time between two looks at the memory that Redis uses. */
const MEASURE_MS = 250;

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
  readonly rollCall: Pick<RollCall, 'workers' | 'seats'>;
  figures(): FabricFigures;
}

export interface FabricOptions {
  readonly version: string;
  /** Longest time without any progress of any shard. */
  readonly phaseMs: number;
  readonly note: (text: string) => void;
}

export function redisFabric(run: RedisRun, rollCall: RollCall, options: FabricOptions): RedisFabric {
  const fabric = new Fabric(run, rollCall, options);
  return {
    rollCall,
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
  private readonly sharings: Sharing[] = [];
  private beginnings = 0;
  private measured = Number.NEGATIVE_INFINITY;
  /** What Redis used, and its limit, at the last look. */
  private memory: { readonly used: number; readonly most: number | null } = { used: 0, most: null };
  private lookedForRoom = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly run: RedisRun,
    private readonly rollCall: RollCall,
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
        this.redis.unlink(inboxesOf(this.run.id, beginning, work.parts.length)).catch(() => {});
      }
    }
  }

  /** Tells the shards that the run is over, and clears away what is left. */
  async close(): Promise<void> {
    const { sharings } = this;
    await this.run.close(async () => {
      sharings.at(-1)?.over(this.mail(this.beginnings));
      await Promise.all(sharings.map(({ ended }) => ended));
    }, FAREWELL_MS);
  }

  private async begin(work: LayerWork, beginning: number): Promise<CarriedLayer> {
    const mail = this.mail(beginning);
    const sharing = this.shareOut(work, mail);
    // Asked before anything is sent on the same connection, so the answer comes before any that Redis is full.
    const room = this.checkRoom(work);
    const { step, layer } = work;
    const tasks = work.parts.map((part, shard) =>
      encodeTask({ part, step, layer, memoryBytes: work.mostBytes[shard] }),
    );
    mail.open(sharing.number, tasks);
    const gathering = new Gathering(work, this.run.id, beginning);
    const opened = room.then(() => mail.settled());
    opened.catch(() => {});
    await this.gather(gathering, beginning, sharing, opened);
    this.measureMemory();
    this.rollCall.call();
    this.figures.frameBytes += gathering.sentBytes;
    addRefusals(this.figures.refused, gathering.refused);
    const { receivedBytes, outputs } = gathering;
    return { receivedBytes, output: (rank) => outputs[rank] };
  }

  /** Asks what Redis uses while the inboxes are there; not waited for, and not too often. */
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
  private async gather(
    gathering: Gathering,
    beginning: number,
    sharing: Sharing,
    opened: Promise<void>,
  ): Promise<void> {
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
      if (sharing.failure !== null) throw sharing.failure;
      silent = entries.length === 0 || silent;
      if (entries.length > 0) latest = performance.now();
      else await this.look(beginning, sharing, performance.now() - latest);
      if (performance.now() - latest > phaseMs) {
        throw new ClusterFailure(`no answer within ${Math.round(phaseMs / 1000)} s: ${gathering.missing}`);
      }
    }
  }

  /** Throws when the answers that are waited for cannot come. */
  private async look(beginning: number, sharing: Sharing, silentMs: number): Promise<void> {
    const inboxes = inboxesOf(this.run.id, beginning, sharing.shardCount);
    if (!(await this.run.keep([...inboxes, ...sharing.orders]))) {
      throw new JobsLost('Redis has lost its inboxes');
    }
    const { used, most } = await this.run.memory();
    if (most !== null && used >= most && silentMs > this.run.patienceMs) throw fullRedis();
  }

  private mail(beginning: number): Mail {
    return new Mail(this.redis, this.run.mailOptions, beginning);
  }

  /** The sharing that serves a layer; a new one when its ranks are shared out in another way, or the jobs are lost. */
  private shareOut({ parts, plans }: LayerWork, mail: Mail): Sharing {
    const bounds = [...parts.map((part) => part.spec.firstRank), plans.length];
    const last = this.sharings.at(-1);
    if (last?.serves(bounds)) return last;
    last?.over(mail);
    const next = new Sharing(this.run, this.options.version, this.sharings.length, bounds);
    this.sharings.push(next);
    return next;
  }

  /** Both legs of a layer lie in Redis at once. Throws ClusterFailure when its limit has no room for them. */
  private async checkRoom(work: LayerWork): Promise<void> {
    if (performance.now() - this.lookedForRoom > MEASURE_MS) {
      this.lookedForRoom = performance.now();
      this.memory = await this.run.memory(this.redis);
    }
    const { used, most } = this.memory;
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
