/** A coordinator inside the test, whose workers are real processes; and a watch on what Redis is asked by whom. */
import { connect } from 'node:net';
import { coordinate, type ShardJobData, shardsFor } from '@epsim/cluster';
import type { CarryResult } from '@epsim/engine';
import { planOf, sessionOf } from './carried.js';
import type { TestRedis } from './redis.js';

export const version = '0.1.0';
/** Eight ranks whose layer takes long enough for something to happen to it. */
export const shape = { rankCount: 8, expertCount: 32, topK: 4, tokensPerRank: 24, seed: 5 };
const model = { hiddenSize: 256, expertWidth: 128, innerSize: 256, sharedInnerSize: 64 };
const layer = { shape, model, format: 'bf16' } as const;

/** The job of the only shard of a run. */
export function shardJob(changes: Partial<ShardJobData> = {}): ShardJobData {
  const place = { run: 'r', sharing: 0, shard: 0, bounds: [0, 1] };
  return { version: '1', ...place, expireMs: 1000, patienceMs: 1000, ...changes };
}

export interface CarryOver {
  readonly layers: number;
  readonly patienceMs?: number;
  readonly phaseMs?: number;
  readonly shards?: number;
  readonly note?: (text: string) => void;
  /** Waited for after each layer. */
  readonly onLayer?: (done: number) => Promise<void>;
}

/** Carries layers one after another over Redis; the result of each. */
export async function carryOver(redis: TestRedis, options: CarryOver): Promise<CarryResult[]> {
  const { layers, patienceMs = 20_000, phaseMs = 40_000, shards, note = () => {} } = options;
  const fabric = await coordinate({ url: redis.url, name: 'test', version, patienceMs, phaseMs, note });
  const shardCount = () => shardsFor(fabric, shape.rankCount, shards);
  const session = sessionOf({ ...layer, shardCount, pool: fabric });
  return carryAll(session, layers, options.onLayer);
}

/** The same layers in this process. */
export function carryInline(layers: number): Promise<CarryResult[]> {
  return carryAll(sessionOf(layer), layers);
}

async function carryAll(
  session: ReturnType<typeof sessionOf>,
  layers: number,
  onLayer: (done: number) => Promise<void> = async () => {},
): Promise<CarryResult[]> {
  const plan = planOf(layer);
  const results: CarryResult[] = [];
  try {
    for (let i = 0; i < layers; i++) {
      results.push(await session.carry(plan, Math.floor(i / 2), i % 2));
      await onLayer(i + 1);
    }
  } finally {
    await session.close();
  }
  return results;
}

/** Calls `seen` with each command that Redis is given and the process that gave it, until the returned function is called. */
export async function watchCommands(
  { admin, port, password }: TestRedis,
  seen: (command: readonly string[], pid: number) => void,
): Promise<() => void> {
  const pids = new Map<string, number | null>();
  const know = async () => {
    for (const line of String(await admin.client('LIST')).split('\n')) {
      const [, address, pid] = /addr=(\S+).* name=\S+-(\d+)-[0-9a-f]{4} /.exec(line) ?? [];
      if (address) pids.set(address, Number(pid));
    }
  };
  await know();
  const socket = connect(port, '127.0.0.1');
  socket.write(`AUTH admin ${password}\r\nMONITOR\r\n`);
  let text = '';
  let reading = Promise.resolve();
  const read = async (lines: readonly string[]) => {
    for (const line of lines) {
      const [, address = ''] = /^\S+ \[\d+ (\S+)\]/.exec(line) ?? [];
      // Connections come and go; a new one is asked for once.
      if (address !== 'lua' && !pids.has(address)) {
        pids.set(address, null);
        await know();
      }
      const pid = pids.get(address) ?? null;
      const words = `${line.slice(0, 2000)}"`.match(/"(?:[^"\\]|\\.)*"/g) ?? [];
      if (pid === null) continue;
      seen(
        words.map((word) => word.slice(1, -1)),
        pid,
      );
    }
  };
  socket.setEncoding('latin1').on('data', (chunk) => {
    const lines = (text + chunk).split('\r\n');
    text = lines.pop() ?? '';
    reading = reading.then(() => read(lines)).catch(() => {});
  });
  await new Promise((resolve) => socket.once('data', resolve));
  return () => socket.destroy();
}

/** What a worker asks of Redis when it comes to a phase of a shard. */
export const moments = {
  /** It holds a shard and waits for an order. */
  holds: ([name, ...args]: readonly string[]) =>
    name === 'xread' && args.some((key) => /:orders\.\d+\.\d+$/.test(key)),
  sends: (command: readonly string[]) => sendsRows(command, 'dispatch'),
  /** It waits for the rows that it computes on. */
  computes: ([name, ...args]: readonly string[]) =>
    name === 'xread' && args.some((key) => /:in\.\d+\.\d+$/.test(key)),
  /** It has computed, and waits for what it combines. */
  combines: (command: readonly string[]) => sendsRows(command, 'combine'),
};

function sendsRows([name, key, ...words]: readonly string[], leg: string): boolean {
  return name === 'xadd' && /:in\.\d+\.\d+$/.test(key) && words.some((word) => word.includes(`.${leg}.`));
}
