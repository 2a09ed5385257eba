/**
 * What the shards of a layer and their coordinator send each other: a Redis stream for each of them, its inbox.
 * One idea: inboxes are made by the coordinator, for one beginning of one layer, and are only written to while they
 * are there. So who is late writes nowhere and learns it, and an inbox that is read again from its start gives
 * another process all that the first one had.
 * Knows nothing about what entries mean.
 */
import type { Socket } from 'node:net';
import type { Redis } from 'ioredis';
import { bounded } from './connection.js';
import { type Block, decodeFrame, encodeFrames, type Frame, MAX_FRAME_BYTES } from './frame.js';
import { inboxesOf, inboxKey, type Owner, ordersKey } from './keys.js';
import { noRefusals, RunMovedOn, redisFull } from './store.js';
import { UncopiedCommand } from './uncopied.js';

/** Entries on the way to Redis at a time, and read from it at a time: a bound on memory on both sides. */
const WINDOW = 16;

export interface MailOptions {
  readonly run: string;
  /** Life of what nobody removes. */
  readonly expireMs: number;
  /** Longest wait for Redis. */
  readonly patienceMs: number;
}

/** Blocks for one inbox, under a name by which the reader knows them. */
export interface Letter {
  readonly to: Owner;
  readonly channel: string;
  readonly blocks: Iterable<Block>;
}

/**
 * Makes so many empty streams, and writes one entry to each of those that follow in place of what they held. Does
 * nothing when the streams are there: a connection that broke has asked again, and they may hold rows by now.
 */
const ORDER = `
local inboxes, at = tonumber(ARGV[2]), 3
if inboxes > 0 and redis.call('exists', KEYS[1]) == 1 then return 1 end
for i, key in ipairs(KEYS) do
  if i <= inboxes then
    redis.call('xadd', key, '*', 'open', '')
    redis.call('xtrim', key, 'MAXLEN', 0)
  else
    local count = tonumber(ARGV[at])
    redis.call('xadd', key, 'MAXLEN', '=', 1, '*', unpack(ARGV, at + 1, at + count))
    at = at + count + 1
  end
  redis.call('pexpire', key, ARGV[1])
end
return 1`;

/** The channel on which a shard gets its task. */
export const taskChannel = (beginning: number, shard: number): string => `${beginning}.task.${shard}`;

/** Writes to the inboxes of one beginning. */
export class Mail {
  bytesSent = 0;
  private readonly waiting: Promise<unknown>[] = [];
  /** The socket that holds writes back, so that many small ones leave together, and how many bytes it holds. */
  private corked: Socket | null = null;
  private corkedBytes = 0;

  constructor(
    private readonly redis: Redis,
    private readonly options: MailOptions,
    private readonly beginning: number,
  ) {}

  /** Makes all inboxes of the beginning; then gives each shard of a sharing the order to begin, and its task. */
  open(sharing: number, tasks: readonly Uint8Array[]): void {
    const { run } = this.options;
    const { beginning } = this;
    const orders = tasks.map((bytes, to) => {
      const frames = [...encodeFrames(run, taskChannel(beginning, to), [{ from: 0, to, bytes }])];
      return { order: { beginning, frames: frames.length }, frames };
    });
    this.order(sharing, orders, inboxesOf(run, beginning, tasks.length));
  }

  /**
   * Gives each shard of a sharing an order, which takes the place of the one before, with frames that belong to it;
   * inboxes are made first.
   */
  order(
    sharing: number,
    orders: readonly { readonly order: unknown; readonly frames?: readonly Buffer[] }[],
    inboxes: readonly string[] = [],
  ): void {
    const { run, expireMs } = this.options;
    const keys = [...inboxes, ...orders.map((_, shard) => ordersKey(run, sharing, shard))];
    const entries = orders.flatMap(({ order, frames = [] }) => {
      const fields = ['order', JSON.stringify(order), ...frames.flatMap((frame) => ['frame', frame])];
      return [fields.length, ...fields];
    });
    this.write(() => this.redis.eval(ORDER, keys.length, ...keys, expireMs, inboxes.length, ...entries));
  }

  /**
   * Sends letters one after another, pipelined; `settled` waits for the last of them. Throws RunMovedOn, and
   * ClusterFailure when Redis is full or gone.
   */
  async send(letters: Iterable<Letter>): Promise<void> {
    for (const { to, channel, blocks } of letters) {
      for (const frame of encodeFrames(this.options.run, channel, blocks)) await this.post(to, frame);
    }
  }

  /** Sends a letter, and a few words, as JSON, in one entry with the end of it. */
  async conclude({ to, channel, blocks }: Letter, words: () => unknown): Promise<void> {
    let last: Buffer | null = null;
    for (const frame of encodeFrames(this.options.run, channel, blocks)) {
      if (last !== null) await this.post(to, last);
      last = frame;
    }
    this.bytesSent += last?.length ?? 0;
    this.entry(to, [...(last === null ? [] : ['frame', last]), 'words', JSON.stringify(words())]);
  }

  /** A few words, as JSON; `settled` tells whether they arrived. */
  say(to: Owner, words: unknown): void {
    this.entry(to, ['words', JSON.stringify(words)]);
  }

  /** Waits until all that was written has arrived. Throws as `send` does. */
  async settled(): Promise<void> {
    await this.settle(0);
  }

  private async post(to: Owner, frame: Buffer): Promise<void> {
    this.bytesSent += frame.length;
    this.entry(to, ['frame', frame]);
    if (this.waiting.length >= WINDOW) await this.settle(WINDOW - 1);
  }

  /** Writes one entry, if the inbox is there. */
  private entry(to: Owner, fields: readonly (string | Buffer)[]): void {
    const key = inboxKey(this.options.run, this.beginning, to);
    const bytes = fields.reduce((sum, field) => sum + field.length, 0);
    const command = () => new UncopiedCommand('xadd', [key, 'NOMKSTREAM', '*', ...fields]);
    this.write(() => this.redis.sendCommand(command()) as Promise<unknown>, bytes);
  }

  private write(command: () => Promise<unknown>, bytes = 0): void {
    if (this.corked === null) {
      this.corked = socketOf(this.redis);
      this.corked?.cork();
      process.nextTick(() => this.uncork());
    }
    const written = command();
    written.catch(() => {});
    this.waiting.push(written);
    this.corkedBytes += bytes;
    if (this.corkedBytes >= MAX_FRAME_BYTES) this.uncork();
  }

  private uncork(): void {
    this.corked?.uncork();
    this.corked = null;
    this.corkedBytes = 0;
  }

  /** Waits until no more than `most` writes are on their way. */
  private async settle(most: number): Promise<void> {
    if (this.waiting.length <= most) return;
    const first = this.waiting.splice(0, this.waiting.length - most);
    const answers = await asked(Promise.all(first), this.options.patienceMs, 'writing rows');
    if (answers.includes(null)) throw new RunMovedOn(`run ${this.options.run} has moved on`);
  }
}

/** The socket below a connection; null while there is none. */
function socketOf(redis: Redis): Socket | null {
  return (redis as unknown as { readonly stream?: Socket }).stream ?? null;
}

async function asked<T>(promise: Promise<T>, ms: number, what: string): Promise<T> {
  try {
    return await bounded(promise, ms, () => `Redis does not answer while ${what}`);
  } catch (thrown) {
    throw redisFull(thrown) ?? thrown;
  }
}

/** One field of an entry of a stream. */
export interface Entry {
  readonly key: string;
  /** `order`, `frame` or `words`. */
  readonly kind: string;
  readonly bytes: Buffer;
}

/** Reads streams, waiting inside Redis; its connection does nothing else meanwhile. */
export class MailReader {
  /** Last entry read of each stream. */
  private readonly after = new Map<string, string>();

  constructor(
    private readonly redis: Redis,
    private readonly patienceMs: number,
  ) {}

  /** New entries of the streams, oldest first in each; none when nothing came within `waitMs`. */
  async read(keys: readonly string[], waitMs: number): Promise<Entry[]> {
    for (const key of this.after.keys()) if (!keys.includes(key)) this.after.delete(key);
    const ids = keys.map((key) => this.after.get(key) ?? '0');
    const found = (await bounded(
      this.redis.xreadBuffer('COUNT', WINDOW, 'BLOCK', waitMs, 'STREAMS', ...keys, ...ids),
      waitMs + this.patienceMs,
      () => 'Redis does not answer while reading rows',
    )) as [Buffer, [Buffer, Buffer[]][]][] | null;
    const entries: Entry[] = [];
    for (const [rawKey, list] of found ?? []) {
      const key = rawKey.toString();
      for (const [id, fields] of list) {
        this.after.set(key, id.toString());
        for (let i = 0; i < fields.length; i += 2) {
          entries.push({ key, kind: fields[i].toString(), bytes: fields[i + 1] });
        }
      }
    }
    return entries;
  }
}

/** Decides which frames of an inbox are read: those of the channels that are expected, each once. */
export class Arrivals<T> {
  readonly refused = noRefusals();
  private readonly seen = new Set<string>();

  /** `channels` says what the caller knows each expected channel as. */
  constructor(
    private readonly run: string,
    private readonly channels: ReadonlyMap<string, T>,
  ) {}

  /** The frame and what its channel is known as; null for a frame that is refused, which is counted. Never throws. */
  take(bytes: Buffer): { readonly frame: Frame; readonly from: T } | null {
    const frame = bytes.length > MAX_FRAME_BYTES ? 'oversized' : decodeFrame(bytes, this.run);
    if (typeof frame === 'string') {
      this.refused[frame]++;
      return null;
    }
    const from = this.channels.get(frame.channel);
    const place = `${frame.channel}#${frame.index}`;
    if (from === undefined || this.seen.has(place)) {
      this.refused[from === undefined ? 'foreign' : 'replayed']++;
      return null;
    }
    this.seen.add(place);
    return { frame, from };
  }
}
