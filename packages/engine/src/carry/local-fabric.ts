/** Shards whose memories are shared with the session: rows are copied straight to where they are read. */
import type { Placement } from '@epsim/spec';
import { createMemory, type KernelMemory } from '@epsim/tensor';
import type { ShardPool } from '@epsim/transport';
import type { CarriedLayer, LayerWork, ShardFabric } from './fabric.js';
import type { SharedRegions } from './row-port.js';
import type { ShardMethod, ShardWork } from './shard-handler.js';

/** Calls go through `pool`, which is closed with the fabric. */
export function localFabric(pool: ShardPool): ShardFabric {
  const memories: KernelMemory[] = [];
  let loaded: { layer: number; placement: Placement } | null = null;
  return {
    async carryLayer(work) {
      work.parts.forEach(({ layout }, shard) => {
        memories[shard] ??= createMemory(work.mostBytes[shard], { shared: true });
        if (layout.bytes > memories[shard].buffer.byteLength) {
          throw new RangeError(
            `shard ${shard} needs ${layout.bytes} bytes of at most 4 GiB; use more workers`,
          );
        }
      });
      const regions = sharedRegions(work, memories);
      const { step, layer } = work;
      const args = work.parts.map((part): ShardWork => ({ ...part, step, layer, regions }));
      const run = async (method: ShardMethod) =>
        (await pool.callAll(args.map((own, shard) => ({ shard, method, args: own })))) as number[];
      if (loaded?.layer !== layer || loaded.placement !== work.placement) {
        await run('load');
        loaded = { layer, placement: work.placement };
      }
      await run('dispatch');
      const received = [...(await run('compute')), ...(await run('combine'))];
      return {
        receivedBytes: received.reduce((a, b) => a + b, 0),
        output: (rank) => outputOf(work, memories, rank),
      } satisfies CarriedLayer;
    },
    close: () => pool.close(),
  };
}

function outputOf(work: LayerWork, memories: readonly KernelMemory[], rank: number): Float32Array {
  const shard = work.shardOfRank[rank];
  const { spec, layout } = work.parts[shard];
  const length = work.plans[rank].tokenCount * spec.model.hiddenSize;
  return new Float32Array(memories[shard].buffer, layout.output[rank - spec.firstRank], length);
}

function sharedRegions(work: LayerWork, memories: readonly KernelMemory[]): SharedRegions {
  const { plans, shardOfRank } = work;
  const rankCount = plans.length;
  const at = (region: 'recv' | 'reply') =>
    Float64Array.from(plans, ({ rank }) => {
      const { layout, spec } = work.parts[shardOfRank[rank]];
      return layout[region][rank - spec.firstRank];
    });
  const landOffsets = new Int32Array(rankCount * rankCount);
  const replyOffsets = new Int32Array(rankCount * rankCount);
  for (let from = 0; from < rankCount; from++) {
    for (let to = 0; to < rankCount; to++) {
      landOffsets[from * rankCount + to] = plans[to].recvOffsets[from];
      replyOffsets[from * rankCount + to] = plans[from].sendOffsets[to];
    }
  }
  return {
    kind: 'shared',
    memories,
    shardOfRank,
    recv: at('recv'),
    reply: at('reply'),
    landOffsets,
    replyOffsets,
    arrived: new Int32Array(new SharedArrayBuffer(2 * rankCount * rankCount * 4)),
    rowBytes: work.rowBytes,
  };
}
