/**
 * Shards in other processes, reached through Redis: the coordinator's side.
 * One idea: each phase's answers name the channels that the next one reads. When anything is lost on the way the
 * layer begins again under a new token, from tasks and seeds, and gives the same bits.
 * Knows nothing about locks and retries of single jobs; those are BullMQ's.
 */
import type { CarriedLayer, LayerWork, RowPhase, ShardFabric } from '@epsim/engine';
import { ClusterFailure, TransportError } from '@epsim/transport';
import {
  type Channel,
  type FrameStore,
  FramesLost,
  laneQueue,
  noRefusals,
  PhaseLost,
  type RedisRun,
  type RefusalCounts,
  RunMovedOn,
} from '@epsim/transport/redis';
import { PHASE_JOB, type PhaseAnswer, type PhaseJobData, phaseAnswerSchema } from './phase-job.js';
import { encodeTask } from './shard-task.js';

/** How often a layer is begun again before the run is given up. */
const MOST_BEGINNINGS = 10;

/** What carrying through Redis took; wall-clock figures, not results. */
export interface FabricFigures {
  /** Bytes of frames, headers included. */
  readonly frameBytes: number;
  /** Most memory that Redis said it used after a phase, everything in it. */
  readonly redisBytesMost: number;
  readonly layersBegunAgain: number;
  readonly refused: RefusalCounts;
}

export interface RedisFabric extends ShardFabric {
  figures(): FabricFigures;
}

export function redisFabric(
  run: RedisRun,
  fixed: Pick<PhaseJobData, 'version' | 'run' | 'expireMs' | 'patienceMs'>,
  note: (text: string) => void,
): RedisFabric {
  const fabric = new Fabric(run, fixed, note);
  return {
    carryLayer: (work) => fabric.carryLayer(work),
    close: () => run.close(),
    figures: () => fabric.figures,
  };
}

/** True for what a new beginning mends: jobs, rows or the run's own key were lost. */
export function mayBeginAgain(thrown: unknown): thrown is Error {
  return thrown instanceof PhaseLost || thrown instanceof FramesLost || thrown instanceof RunMovedOn;
}

class Fabric {
  readonly figures = { frameBytes: 0, redisBytesMost: 0, layersBegunAgain: 0, refused: noRefusals() };

  constructor(
    private readonly run: RedisRun,
    private readonly fixed: Pick<PhaseJobData, 'version' | 'run' | 'expireMs' | 'patienceMs'>,
    private readonly note: (text: string) => void,
  ) {}

  async carryLayer(work: LayerWork): Promise<CarriedLayer> {
    for (let beginnings = 1; ; beginnings++) {
      try {
        return await this.begin(work);
      } catch (thrown) {
        if (!mayBeginAgain(thrown)) throw thrown;
        if (beginnings === MOST_BEGINNINGS) {
          throw new ClusterFailure(
            `layer ${work.layer} of step ${work.step} was lost ${beginnings} times, the last time because ${thrown.message}`,
          );
        }
        this.figures.layersBegunAgain++;
        this.note(`layer ${work.layer} of step ${work.step} begins again: ${thrown.message}`);
        await this.run.newEpoch();
      }
    }
  }

  private async begin(work: LayerWork): Promise<CarriedLayer> {
    const store = this.run.store();
    await this.checkRoom(work);
    const { step, layer } = work;
    const tasks = await store.putAll(
      work.parts.map((part, shard) => {
        const bytes = encodeTask({ part, step, layer, memoryBytes: work.mostBytes[shard] });
        return {
          channel: `${this.run.token}.${step}.${layer}.${shard}`,
          blocks: [{ from: 0, to: 0, bytes }],
        };
      }),
    );
    const shards = work.parts.map((_, shard) => shard);
    const out = await this.phase(
      'dispatch',
      work,
      tasks,
      shards.map(() => []),
    );
    const arriving = shards.map((to) => out.map((answer) => answer.sent[to]));
    const back = await this.phase('compute', work, tasks, arriving);
    await store.drop(arriving.flat());
    const returning = shards.map((to) => back.map((answer) => answer.sent[to]));
    const done = await this.phase('combine', work, tasks, returning);
    await store.drop([...returning.flat(), ...tasks]);
    const outputs = await this.results(work, store, done);
    return {
      receivedBytes: [...back, ...done].reduce((sum, answer) => sum + answer.receivedBytes, 0),
      output: (rank) => outputs[rank],
    };
  }

  /** Sends one phase to every shard; throws PhaseLost when it must begin again, other errors when it is in vain. */
  private async phase(
    phase: RowPhase,
    work: LayerWork,
    tasks: readonly Channel[],
    inputs: readonly (readonly Channel[])[],
  ): Promise<Extract<PhaseAnswer, { outcome: 'done' }>[]> {
    const bounds = [...work.parts.map((part) => part.spec.firstRank), work.plans.length];
    const { token } = this.run;
    const raw = await this.run.phase(
      work.parts.map((_, shard) => {
        const used = inputs[shard].filter(({ frames }) => frames > 0);
        const data: PhaseJobData = {
          ...this.fixed,
          ...{ token, shard, phase, bounds, task: tasks[shard], inputs: used },
        };
        return { queue: laneQueue(shard), name: PHASE_JOB, data };
      }),
    );
    const { used } = await this.run.memory();
    this.figures.redisBytesMost = Math.max(this.figures.redisBytesMost, used);
    return raw.map((answer, shard) => this.accept(answer, shard, phase));
  }

  private accept(raw: unknown, shard: number, phase: RowPhase): Extract<PhaseAnswer, { outcome: 'done' }> {
    const parsed = phaseAnswerSchema.safeParse(raw);
    if (!parsed.success) throw new PhaseLost(`shard ${shard} gave no answer to ${phase}`);
    const answer = parsed.data;
    if (answer.outcome === 'done') {
      this.figures.frameBytes += answer.sentBytes;
      for (const kind of Object.keys(answer.refused) as (keyof RefusalCounts)[]) {
        this.figures.refused[kind] += answer.refused[kind];
      }
      return answer;
    }
    const { outcome, reason } = answer;
    if (outcome === 'lost' || outcome === 'stale') throw new PhaseLost(`shard ${shard}, ${phase}: ${reason}`);
    if (outcome === 'full' || outcome === 'refused') throw new ClusterFailure(reason);
    throw new TransportError(shard, phase, reason);
  }

  private async results(
    work: LayerWork,
    store: FrameStore,
    done: readonly { readonly sent: readonly Channel[] }[],
  ): Promise<Float32Array[]> {
    const { hiddenSize } = work.parts[0].spec.model;
    const outputs = work.plans.map((plan) => new Float32Array(plan.tokenCount * hiddenSize));
    const arrived = new Float64Array(outputs.length);
    const channels = done.map(({ sent }) => sent[0]);
    await store.takeAll(channels, ({ from: rank, offset, bytes }) => {
      const into = new Uint8Array(outputs[rank]?.buffer ?? new ArrayBuffer(0));
      if (offset !== arrived[rank] || offset + bytes.length > into.length) {
        throw new FramesLost(`results of rank ${rank} that are not its own`);
      }
      into.set(bytes, offset);
      arrived[rank] += bytes.length;
    });
    outputs.forEach((rows, rank) => {
      if (arrived[rank] !== rows.byteLength) throw new FramesLost(`results of rank ${rank} are not there`);
    });
    await store.drop(channels);
    return outputs;
  }

  /** Both legs of a layer lie in Redis at once at most. Throws ClusterFailure when its limit has no room for them. */
  private async checkRoom(work: LayerWork): Promise<void> {
    const { used, most } = await this.run.memory();
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
