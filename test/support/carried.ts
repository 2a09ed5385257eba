/** A small layer that is carried, and what a test may do to its rows. */
import {
  type CarriedModel,
  CarrySession,
  createShardHandler,
  planDispatch,
  type RowPort,
  type ShardFabric,
} from '@epsim/engine';
import type { DispatchPlan } from '@epsim/spec';
import { type RowFormat, rowBytes } from '@epsim/tensor';
import { inlineShards, type ShardPool } from '@epsim/transport';
import { type SmallShape, somePlacement, someRouting } from './routings.js';

export const smallModel = (shape: SmallShape, more: Partial<CarriedModel> = {}): CarriedModel => ({
  seed: shape.seed,
  expertCount: shape.expertCount,
  hiddenSize: 32,
  expertWidth: 16,
  latent: true,
  latentNorm: true,
  innerSize: 8,
  sharedInnerSize: 8,
  glu: { kind: 'situ', gateBound: 4, upBound: 25 },
  ...more,
});

export interface CarryCase {
  readonly shape: SmallShape;
  readonly perChoice?: boolean;
  readonly spare?: number;
  readonly holes?: boolean;
  readonly format?: RowFormat;
  readonly shardCount?: number | (() => number);
  readonly model?: Partial<CarriedModel>;
  readonly pool?: ShardPool | ShardFabric;
  readonly wrapPort?: (port: RowPort) => RowPort;
}

export function planOf(c: CarryCase): DispatchPlan {
  const bytes = rowBytes(c.format ?? 'fp32', c.model?.expertWidth ?? 16);
  return planDispatch(someRouting(c.shape, c.holes), somePlacement(c.shape, c.spare), {
    kind: c.perChoice ? 'per-expert' : 'per-rank',
    replica: 'round-robin',
    domainRanks: c.shape.rankCount,
    dispatchRowBytes: bytes,
    combineRowBytes: bytes,
  });
}

export function sessionOf(c: CarryCase): CarrySession {
  const { format = 'fp32', shardCount = 1 } = c;
  return new CarrySession(
    {
      model: smallModel(c.shape, c.model),
      rankCount: c.shape.rankCount,
      tokensPerRank: c.shape.tokensPerRank,
      shardCount: typeof shardCount === 'number' ? () => shardCount : shardCount,
      dispatchFormat: format,
      combineFormat: format,
      perChoice: c.perChoice ?? false,
      topK: c.shape.topK,
    },
    c.pool ?? inlineShards(createShardHandler(c.wrapPort)),
  );
}
