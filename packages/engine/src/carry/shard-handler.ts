/**
 * Answers the calls of a carrying run on shared memory, on whatever thread it finds itself.
 * A call carries all that is needed; only kernels are kept between calls.
 */
import { createKernel, type Kernel, type KernelMemory } from '@epsim/tensor';
import type { ShardCall, ShardHandler } from '@epsim/transport';
import type { ShardPart } from './fabric.js';
import { type OutboxRegions, outboxPort, type RowPort, type SharedRegions, sharedPort } from './row-port.js';
import { combineRows, computeExperts, dispatchRows, loadWeights, type ShardContext } from './shard.js';

/** Work of one shard for one layer. */
export interface ShardWork extends ShardPart {
  readonly step: number;
  readonly layer: number;
  readonly regions: SharedRegions | OutboxRegions;
}

export type ShardMethod = 'load' | 'dispatch' | 'compute' | 'combine';

/**
 * `wrapPort` stands between shards and their port; tests use it to lose, double and swap rows.
 * Answers are the bytes received, 0 for the methods that receive nothing.
 */
export function createShardHandler(wrapPort: (port: RowPort) => RowPort = (port) => port): ShardHandler {
  const kernels = new Map<number, Kernel>();
  // Shards of many runs pass through a process that serves a cluster; a kept kernel must not keep their memory.
  const ofMemory = new WeakMap<KernelMemory, Kernel>();
  const kernelOf = (shard: number, regions: ShardWork['regions']): Kernel => {
    if (regions.kind === 'outbox') {
      const kernel = ofMemory.get(regions.memory) ?? createKernel(regions.memory);
      ofMemory.set(regions.memory, kernel);
      return kernel;
    }
    const kernel = kernels.get(shard) ?? createKernel(regions.memories[shard]);
    kernels.set(shard, kernel);
    return kernel;
  };
  return (call: ShardCall): number => {
    const work = call.args as ShardWork;
    const { spec, layout, hidden, regions } = work;
    const kernel = kernelOf(call.shard, regions);
    const context: ShardContext = { spec, layout, kernel, ...(hidden ? { hidden } : {}) };
    const port = wrapPort(regions.kind === 'outbox' ? outboxPort(regions) : sharedPort(regions));
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
