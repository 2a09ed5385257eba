/** How rows are carried this time: inline, on threads, or by the workers of a cluster. No result depends on it. */
import {
  type CarryResult,
  CarrySession,
  carriedModel,
  createShardHandler,
  type ShardFabric,
} from '@epsim/engine';
import type { DispatchPlan, Scenario, StepRecord } from '@epsim/spec';
import { inlineShards, type ShardPool, threadShards } from '@epsim/transport';
import { shardEntry } from '@epsim/workers';
import { UsageError } from './failure.js';
import { version } from './version.js';

export interface CarryRequest {
  readonly scenario: Scenario;
  readonly transport: 'inline' | 'thread' | 'redis';
  /** Threads, or shards of a cluster; the transport's own choice when absent. */
  readonly workers?: number;
  /** Address of Redis, for `redis`. */
  readonly redis?: string;
  /** Longest wait for Redis or a worker, and for one phase of one layer. */
  readonly patienceMs: number;
  readonly phaseMs: number;
}

/** What the step loop needs to carry a layer. */
export interface Carrying {
  carry(plan: DispatchPlan, step: number, layer: number): Promise<CarryResult>;
  close(): Promise<void>;
  /** Wall-clock figures of how it was carried, for timings.json. */
  figures(): Readonly<Record<string, unknown>>;
}

interface Reach {
  readonly reach: ShardPool | ShardFabric;
  readonly shardCount: () => number;
  readonly figures: Carrying['figures'];
}

/** Null when the scenario carries nothing. Throws UsageError for a model that cannot be carried. */
export async function openCarrying(
  request: CarryRequest,
  note: (text: string) => void,
): Promise<Carrying | null> {
  const { carry, cluster, dispatch, model, seed } = request.scenario;
  if (!carry) return null;
  const carried = carriable(() => carriedModel(model, carry.expertInnerSize, seed));
  const { reach, shardCount, figures } = await reachShards(request, note);
  const session = new CarrySession(
    {
      model: carried,
      rankCount: cluster.rankCount,
      tokensPerRank: carry.tokensPerRank,
      shardCount,
      dispatchFormat: carry.rows === 'wire' ? dispatch.dispatchFormat : 'fp32',
      combineFormat: carry.rows === 'wire' ? dispatch.combineFormat : 'fp32',
      perChoice: dispatch.kind === 'per-expert',
      topK: model.moe.topK,
    },
    reach,
  );
  return {
    carry: (plan, step, layer) =>
      session.carry(plan, step, layer, step >= request.scenario.steps - carry.checkSteps),
    close: () => session.close(),
    figures,
  };
}

/** Takes what an interrupted run has carried from its records, and carries only the rest. */
export function resumedCarrying(carrying: Carrying, kept: readonly StepRecord[]): Carrying {
  const done = new Map(kept.map(({ step, layer, carried }) => [`${step}.${layer}`, carried]));
  return {
    ...carrying,
    carry: async (plan, step, layer) =>
      done.get(`${step}.${layer}`) ?? (await carrying.carry(plan, step, layer)),
  };
}

async function reachShards(request: CarryRequest, note: (text: string) => void): Promise<Reach> {
  const { transport, scenario, patienceMs, phaseMs } = request;
  const workers = Math.min(request.workers ?? scenario.carry?.workers ?? 1, scenario.cluster.rankCount);
  if (transport === 'inline') {
    const reach = inlineShards(createShardHandler());
    return { reach, shardCount: () => 1, figures: () => ({ transport, workers: 1 }) };
  }
  if (transport === 'thread') {
    const reach = threadShards({ entry: shardEntry, workers, timeoutMs: phaseMs });
    return { reach, shardCount: () => workers, figures: () => ({ transport, workers }) };
  }
  const { coordinate, shardsFor } = await import('@epsim/cluster');
  const reach = await coordinate({
    ...{ url: request.redis ?? '', name: scenario.name, version, patienceMs, phaseMs, note },
  });
  const shardCount = () => shardsFor(reach, scenario.cluster.rankCount, request.workers);
  return {
    reach,
    shardCount,
    figures: () => ({
      ...{ transport, workers: reach.rollCall.workers, shards: shardCount() },
      redis: reach.figures(),
    }),
  };
}

function carriable<T>(make: () => T): T {
  try {
    return make();
  } catch (thrown) {
    if (thrown instanceof RangeError) throw new UsageError(`carry: ${thrown.message}`);
    throw thrown;
  }
}
