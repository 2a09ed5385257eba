/**
 * Answers the calls of a carrying run on shared memory, on whatever thread it finds itself.
 * A call carries all that is needed; only compiled kernels are kept between calls.
 */
import { createKernel, type Kernel } from '@epsim/tensor';
import type { ShardCall, ShardHandler } from '@epsim/transport';
import type { RankPlan } from './rank-plan.js';
import { type RowPort, type SharedRegions, sharedPort } from './row-port.js';
import { combineRows, computeExperts, dispatchRows, loadWeights, type ShardContext } from './shard.js';
import type { ShardLayout, ShardSpec } from './shard-layout.js';

/** Work of one shard for one layer. */
export interface ShardWork {
  readonly spec: ShardSpec;
  readonly layout: ShardLayout;
  readonly plans: readonly RankPlan[];
  readonly slotExpert: Int32Array;
  readonly step: number;
  readonly layer: number;
  readonly regions: SharedRegions;
  /** Hidden states of each of its ranks, where they come from outside. */
  readonly hidden?: readonly Float32Array[];
}

export type ShardMethod = 'load' | 'dispatch' | 'compute' | 'combine';

/**
 * `wrapPort` stands between shards and their port; tests use it to lose, double and swap rows.
 * Answers are the bytes received, 0 for the methods that receive nothing.
 */
export function createShardHandler(wrapPort: (port: RowPort) => RowPort = (port) => port): ShardHandler {
  const kernels = new Map<number, Kernel>();
  return (call: ShardCall): number => {
    const work = call.args as ShardWork;
    let kernel = kernels.get(call.shard);
    if (!kernel) {
      kernel = createKernel(work.regions.memories[call.shard]);
      kernels.set(call.shard, kernel);
    }
    const { spec, layout, hidden } = work;
    const context: ShardContext = { spec, layout, kernel, ...(hidden ? { hidden } : {}) };
    const port = wrapPort(sharedPort(work.regions));
    switch (call.method as ShardMethod) {
      case 'load':
        loadWeights(context, work.layer, work.slotExpert);
        return 0;
      case 'dispatch':
        dispatchRows(context, work.plans, work.step, work.layer, port);
        return 0;
      case 'compute':
        return computeExperts(context, work.plans, port);
      case 'combine':
        return combineRows(context, work.plans, work.step, work.layer, port);
    }
  };
}
