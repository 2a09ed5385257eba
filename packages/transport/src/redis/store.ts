/**
 * Channels of frames in Redis, one list each, for what a job reads or gives as a whole: files of a point, its result.
 * What is put stays until it is dropped, so that a job that is done again by another worker finds what the first one
 * found.
 * One idea: a channel is opened by one attempt at one job, while the run is driven, and is written only while it is
 * there. A worker that wakes up late writes where nobody reads, or, once the run has been cleared away, nowhere.
 */
import type { Redis } from 'ioredis';
import { ClusterFailure } from '../failure.js';
import { bounded } from './connection.js';
import { type Block, decodeFrame, encodeFrames, MAX_FRAME_BYTES, type Piece, type Refusal } from './frame.js';
import { channelKey, runKey } from './keys.js';

/** Frames on the way to or from Redis at a time: a bound on memory here and on Redis's buffers. */
const WINDOW = 16;

/** First element of a channel; what is pushed after it does not go through a script, which would copy it. */
const OPENED = '.';
const OPEN = `
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('rpush', KEYS[2], ARGV[3])
redis.call('pexpire', KEYS[2], ARGV[2])
return 1`;

/** As LRANGE, with empty strings for what is longer than a frame may be. */
const TAKE_SHORT = `
local all = {}
for i = tonumber(ARGV[1]), tonumber(ARGV[2]) do
  local one = redis.call('lindex', KEYS[1], i)
  if not one then break end
  all[#all + 1] = #one <= tonumber(ARGV[3]) and one or ''
end
return all`;

/** What a list of so many honest frames may take in Redis, with room for its allocator's rounding. */
const honestBytes = (frames: number) => 65_536 + frames * 270_000;

/** A channel that is complete: how many frames it holds. */
export interface Channel {
  readonly channel: string;
  readonly frames: number;
}

export interface StoreOptions {
  readonly run: string;
  /** The run's token when the work began; what is written under another one is refused. */
  readonly token: string;
  /** Life of a channel that nobody drops. */
  readonly expireMs: number;
  /** Longest wait for Redis. */
  readonly patienceMs: number;
}

/** The run has ended or moved on; what this attempt does is not wanted any more. */
export class RunMovedOn extends Error {
  override readonly name = 'RunMovedOn';
}

/** Frames that should be there are not: Redis lost them, or something else did. */
export class FramesLost extends Error {
  override readonly name = 'FramesLost';
}

export type RefusalCounts = Record<Refusal, number>;
export const noRefusals = (): RefusalCounts => ({
  malformed: 0,
  oversized: 0,
  damaged: 0,
  foreign: 0,
  replayed: 0,
});

export class FrameStore {
  readonly refused = noRefusals();

  constructor(
    private readonly redis: Redis,
    private readonly options: StoreOptions,
  ) {}

  /** Throws RunMovedOn unless the run is alive and its token is ours. */
  async checkToken(): Promise<void> {
    const { run, token } = this.options;
    const current = await this.bound(this.redis.get(runKey(run)), 'asking for the run');
    if (current !== token) throw new RunMovedOn(`run ${run} has ended or moved on`);
  }

  /** Writes blocks to a channel of its own. Throws RunMovedOn, and ClusterFailure when Redis is full or gone. */
  async put(channel: string, blocks: Iterable<Block>): Promise<Channel> {
    const { run, token, expireMs } = this.options;
    const key = channelKey(run, channel);
    const waiting: Promise<unknown>[] = [];
    const begin = (put: Promise<unknown>) => {
      put.catch(() => {});
      waiting.push(put);
    };
    // Each answers the length of the list, 0 when there is none.
    const settle = async (promise: Promise<unknown>) => {
      if ((await this.bound(promise, 'writing')) === 0) throw new RunMovedOn(`run ${run} has moved on`);
    };
    let frames = 0;
    for (const frame of encodeFrames(run, channel, blocks)) {
      if (frames++ === 0) begin(this.redis.eval(OPEN, 2, runKey(run), key, token, expireMs, OPENED));
      begin(this.redis.rpushx(key, frame));
      while (waiting.length >= WINDOW) await settle(waiting.shift()!);
    }
    for (const put of waiting) await settle(put);
    return { channel, frames };
  }

  /**
   * Hands every piece of a channel to `accept`, in order; refused frames are counted and passed over.
   * Throws FramesLost when some of the channel's frames are not there.
   */
  async take({ channel, frames }: Channel, accept: (piece: Piece) => void): Promise<void> {
    const { run } = this.options;
    const key = channelKey(run, channel);
    const seen = new Set<number>();
    // Someone else's gigabyte in the list must not come here to be refused.
    const used = await this.bound(this.redis.memory('USAGE', key, 'SAMPLES', 0), 'reading');
    const careful = (used ?? 0) > honestBytes(frames);
    const ask = (first: number): Promise<Buffer[]> => {
      const last = first + WINDOW - 1;
      return careful
        ? (this.redis.callBuffer('EVAL', TAKE_SHORT, 1, key, first, last, MAX_FRAME_BYTES) as Promise<
            Buffer[]
          >)
        : this.redis.lrangeBuffer(key, first, last);
    };
    let next = ask(0);
    for (let first = 0; ; first += WINDOW) {
      const raw = await this.bound(next, 'reading');
      if (raw.length === WINDOW) next = ask(first + WINDOW);
      for (const bytes of raw) {
        if (bytes.length !== 1 || bytes[0] !== OPENED.charCodeAt(0)) {
          this.accept(bytes, channel, frames, seen, accept);
        }
      }
      if (raw.length < WINDOW) break;
    }
    if (seen.size !== frames) {
      throw new FramesLost(`${frames - seen.size} of ${frames} frames of ${channel} are not in Redis`);
    }
  }

  async drop(channels: readonly Channel[]): Promise<void> {
    if (channels.length === 0) return;
    const keys = channels.map(({ channel }) => channelKey(this.options.run, channel));
    await this.bound(this.redis.unlink(keys), 'removing');
  }

  private accept(
    bytes: Buffer,
    channel: string,
    frames: number,
    seen: Set<number>,
    accept: (piece: Piece) => void,
  ): void {
    const frame = bytes.length === 0 ? 'oversized' : decodeFrame(bytes, this.options.run, channel);
    if (typeof frame === 'string') {
      this.refused[frame]++;
      return;
    }
    if (frame.index >= frames || seen.has(frame.index)) {
      this.refused[frame.index >= frames ? 'foreign' : 'replayed']++;
      return;
    }
    seen.add(frame.index);
    for (const piece of frame.pieces) accept(piece);
  }

  private async bound<T>(promise: Promise<T>, what: string): Promise<T> {
    try {
      return await bounded(promise, this.options.patienceMs, () => `Redis does not answer while ${what}`);
    } catch (thrown) {
      throw redisFull(thrown) ?? thrown;
    }
  }
}

/** Redis has no memory left. */
export class RedisFull extends ClusterFailure {}

export function fullRedis(): RedisFull {
  return new RedisFull(
    `Redis is full (maxmemory) and takes no more rows of ${MAX_FRAME_BYTES} bytes; raise maxmemory, or carry fewer tokens (carry.tokensPerRank)`,
  );
}

/** What an error of Redis means: full, or null for anything else. */
export function redisFull(thrown: unknown): RedisFull | null {
  return thrown instanceof Error && /\bOOM\b/.test(thrown.message) ? fullRedis() : null;
}
