/**
 * A shard is what serves a few ranks: it answers calls, one at a time, and keeps its own memory.
 * Here is what every way of reaching shards has in common. Nobody here knows what a call means.
 */

export interface ShardCall {
  readonly shard: number;
  /** What to do; known to the handler only. */
  readonly method: string;
  readonly args: unknown;
}

export type ShardHandler = (call: ShardCall) => unknown;

export interface ShardPool {
  readonly name: 'inline' | 'thread' | 'redis';
  /**
   * Sends every call and waits for all answers, in the order of the calls.
   * Throws TransportError when a shard dies, throws, or does not answer within the pool's bound;
   * the pool is closed by then.
   */
  callAll(calls: readonly ShardCall[]): Promise<readonly unknown[]>;
  close(): Promise<void>;
}

/** A shard that cannot go on: which one, what it was doing, and why. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  constructor(
    readonly shard: number,
    readonly method: string,
    readonly reason: string,
  ) {
    super(`shard ${shard} failed in ${method}: ${reason}`);
  }
}

/** The text of anything thrown. */
export function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
