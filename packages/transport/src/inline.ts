/** Shards served by the calling thread, one after another: the plainest pool, and the one the others must equal. */
import { reasonOf, type ShardHandler, type ShardPool, TransportError } from './shards.js';

export function inlineShards(handler: ShardHandler): ShardPool {
  return {
    name: 'inline',
    async callAll(calls) {
      const answers: unknown[] = [];
      for (const call of calls) {
        try {
          answers.push(await handler(call));
        } catch (thrown) {
          throw new TransportError(call.shard, call.method, reasonOf(thrown));
        }
      }
      return answers;
    },
    async close() {},
  };
}
