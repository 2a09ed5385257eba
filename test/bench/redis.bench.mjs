// What carrying over Redis costs, on a server of the benchmark's own: frames against a bare pipeline of the same
// client, two worker processes against one, and what a step takes beyond its computing.
// `chrt -r 5 npm run bench -- redis` (Linux, root) keeps the machine's other programs away; wall times need that.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { coordinate } from '@epsim/cluster';
import { CarrySession, createShardHandler, planDispatch } from '@epsim/engine';
import { randomSource } from '@epsim/spec';
import { inlineShards } from '@epsim/transport';
import { Arrivals, inboxKey, Mail, MailReader, ordersKey, workersPresent } from '@epsim/transport/redis';
import { Redis } from 'ioredis';

const server = ['redis-server', 'valkey-server'].find((name) => spawnSync(name, ['--version']).status === 0);
const entry = fileURLToPath(new URL('../../packages/cli/bin/epsim.mjs', import.meta.url));
const children = [];
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});
function start(command, args, env = {}) {
  const child = spawn(command, args, { stdio: 'ignore', env: { ...process.env, ...env } });
  child.unref();
  children.push(child);
  return child;
}

let port = 0;
async function connect() {
  if (port === 0) {
    const probe = createServer();
    await new Promise((resolve) => probe.listen(0, '127.0.0.1', resolve));
    port = probe.address().port;
    await new Promise((resolve) => probe.close(resolve));
    const dir = mkdtempSync(join(tmpdir(), 'epsim-bench-'));
    start(server, ['--port', port, '--bind', '127.0.0.1', '--dir', dir, '--save', ''].map(String));
  }
  const redis = new Redis(port, { maxRetriesPerRequest: null, retryStrategy: () => 50 });
  redis.on('error', () => {});
  await redis.ping();
  return redis;
}

const MIB = 2 ** 20;
const payload = new Uint8Array(32 * MIB).map((_, i) => i);
const into = new Uint8Array(payload.length);
const CHUNK = 250_000;

async function barePipeline() {
  const redis = await connect();
  const waiting = [];
  for (let at = 0; at < payload.length; at += CHUNK) {
    waiting.push(redis.rpush('bare', Buffer.from(payload.subarray(at, at + CHUNK))));
    if (waiting.length >= 16) await waiting.shift();
  }
  await Promise.all(waiting);
  for (let first = 0, got = 16; got === 16; first += 16) {
    got = (await redis.lrangeBuffer('bare', first, first + 15)).length;
  }
  await redis.unlink('bare');
  redis.disconnect();
}

async function frames() {
  const [writing, reading] = [await connect(), await connect()];
  const mail = new Mail(writing, { run: 'bench', expireMs: 60_000, patienceMs: 30_000 }, 0);
  mail.open([new Uint8Array(1)]);
  await mail.send([{ to: 0, channel: 'rows', blocks: [{ from: 0, to: 0, bytes: payload }] }]);
  await mail.settled();
  const key = inboxKey('bench', 0, 0);
  const reader = new MailReader(reading, 30_000);
  const arrivals = new Arrivals('bench', new Map([['rows', 0]]));
  for (let got = 0; got < payload.length; ) {
    for (const { kind, bytes } of await reader.read([key], 1000)) {
      if (kind !== 'frame') continue;
      for (const piece of arrivals.take(bytes).frame.pieces) {
        into.set(piece.bytes, piece.offset);
        got += piece.bytes.length;
      }
    }
  }
  await writing.unlink(
    key,
    ordersKey('bench', 0),
    inboxKey('bench', 0, 'coordinator'),
    inboxKey('bench', 0, 'progress'),
  );
  for (const redis of [writing, reading]) redis.disconnect();
}

/** A layer of 8 ranks of `width` and experts of `inner`. */
function layer({ tokensPerRank, expertCount, width, inner }, shardCount) {
  const [rankCount, topK] = [8, 4];
  const random = randomSource(1, 'bench');
  const tokens = rankCount * tokensPerRank;
  const experts = new Int32Array(tokens * topK);
  for (let t = 0; t < tokens; t++) {
    const pool = Array.from({ length: expertCount }, (_, e) => e);
    for (let k = 0; k < topK; k++)
      experts[t * topK + k] = pool.splice(Math.floor(random.uniform() * pool.length), 1)[0];
  }
  const tokenOffsets = Int32Array.from({ length: rankCount + 1 }, (_, r) => r * tokensPerRank);
  const weights = new Float32Array(experts.length).fill(0.25);
  const routing = { expertCount, topK, width: topK, tokenOffsets, experts, weights, droppedChoices: 0 };
  const slotOffsets = Int32Array.from({ length: rankCount + 1 }, (_, r) => (r * expertCount) / rankCount);
  const slotExpert = Int32Array.from({ length: expertCount }, (_, e) => e);
  const plan = planDispatch(
    routing,
    { rankCount, expertCount, slotOffsets, slotExpert },
    {
      ...{ kind: 'per-rank', replica: 'round-robin', domainRanks: rankCount },
      ...{ dispatchRowBytes: width * 2, combineRowBytes: width * 2 },
    },
  );
  const model = {
    ...{ seed: 1, expertCount, hiddenSize: width, expertWidth: width, latent: true, latentNorm: true },
    ...{ innerSize: inner, sharedInnerSize: 8, glu: { kind: 'swiglu' } },
  };
  const options = {
    ...{ model, rankCount, tokensPerRank, shardCount, topK, perChoice: false },
    ...{ dispatchFormat: 'bf16', combineFormat: 'bf16' },
  };
  return { plan, options };
}

async function workersAre(count) {
  const redis = await connect();
  for (;;) {
    const present = await workersPresent(redis);
    // Lanes have been dealt when all sixteen are somebody's and nobody has more than his share.
    const most = Math.max(0, ...present.map(({ lanes }) => lanes.length));
    if (present.length === count && most === 16 / count) break;
    const own = children.filter(({ spawnargs, killed }) => !killed && spawnargs.includes('worker'));
    for (const child of own.slice(count)) child.kill('SIGTERM');
    const args = [entry, 'worker', '--redis', `redis://127.0.0.1:${port}`, '--lock', '2', '--quiet'];
    for (let i = own.length; i < count; i++) start(process.execPath, args);
    await sleep(300);
  }
  redis.disconnect();
}

/** CPU time of the worker processes so far, ms. */
function workerCpuMs() {
  const alive = children.filter(({ spawnargs, killed }) => !killed && spawnargs.includes('worker'));
  return alive.reduce((sum, { pid }) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ');
    return sum + 10 * (Number(fields[13]) + Number(fields[14]));
  }, 0);
}

/** Wall time of one layer, and CPU time of the workers for it: medians, and means of `layers` layers, after some that load and warm. */
async function timed(fabric, work, layers) {
  for (let i = 0; i < Math.min(100, layers); i++) await fabric.carryLayer(work);
  const cpu = workerCpuMs();
  const walls = [];
  for (let i = 0; i < layers; i++) {
    const started = performance.now();
    await fabric.carryLayer(work);
    walls.push(performance.now() - started);
  }
  return { wallMs: middle(walls), cpuMs: (workerCpuMs() - cpu) / layers };
}

async function overRedis(size, layers, shardCount) {
  await connect().then((redis) => redis.disconnect());
  const { plan, options } = layer(size, shardCount);
  const fabric = await coordinate({
    ...{ url: `redis://127.0.0.1:${port}`, name: 'bench', version: '0.1.0' },
    ...{ patienceMs: 30_000, phaseMs: 120_000, note: () => {} },
  });
  const session = new CarrySession(options, fabric);
  // The reference belongs to neither side: what is measured is the fabric.
  const took = await timed(fabric, session.layOut(plan, 0, 0), layers);
  await session.close();
  return took;
}

async function inline(size, layers) {
  const { plan, options } = layer(size, 1);
  const session = new CarrySession(options, inlineShards(createShardHandler()));
  const took = await timed(session.fabric, session.layOut(plan, 0, 0), layers);
  await session.close();
  return took;
}

const middle = (values) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
const both = (list) => ({
  wallMs: middle(list.map((took) => took.wallMs)),
  cpuMs: middle(list.map((took) => took.cpuMs)),
});

const empty = { tokensPerRank: 4, expertCount: 16, width: 64, inner: 8 };
const step50 = { tokensPerRank: 4, expertCount: 16, width: 512, inner: 3200 };
const heavy = { tokensPerRank: 32, expertCount: 64, width: 512, inner: 2048 };

/** Layers over one or two workers of one thread beside the same layers in this process. */
function besideInline(name, size, workers, layers) {
  const took = { redis: [], inline: [] };
  return {
    name,
    baseline: { name: 'inline', work: async () => void took.inline.push(await inline(size, layers)) },
    subject: {
      name: `over Redis, ${workers === 1 ? 'one worker' : 'two workers, four shards'}`,
      work: async () => {
        await workersAre(workers);
        took.redis.push(await overRedis(size, layers, 2 * workers));
      },
    },
    runs: 3,
    warm: false,
    note: () => {
      const [over, here] = [both(took.redis).wallMs, both(took.inline).wallMs];
      const more = over - here;
      return `a step: ${over.toFixed(2)} ms over Redis, ${here.toFixed(2)} ms inline; ${more.toFixed(2)} ms more, ${((100 * more) / 50).toFixed(1)} % of a step of 50 ms`;
    },
  };
}

const took = { one: [], two: [] };

export const benchmarks = server
  ? [
      {
        name: 'redis-frames: 32 MiB there and back',
        baseline: { name: 'bare pipeline of the same client', work: barePipeline },
        subject: { name: 'frames', work: frames },
        runs: 9,
      },
      besideInline('redis-step: a step of almost no computing', empty, 2, 400),
      besideInline('redis-step: a step of about 50 ms', step50, 1, 60),
      {
        name: 'redis-workers: compute-bound layers',
        baseline: {
          name: 'one worker process',
          work: async () => {
            await workersAre(1);
            took.one.push(await overRedis(heavy, 5, 4));
          },
        },
        subject: {
          name: 'two worker processes, joining included',
          work: async () => {
            await workersAre(2);
            took.two.push(await overRedis(heavy, 5, 4));
          },
        },
        runs: 3,
        warm: false,
        note: () => {
          const [one, two] = [both(took.one), both(took.two)];
          return `a layer: ${one.wallMs.toFixed(0)} ms with one, ${two.wallMs.toFixed(0)} ms with two: ${(one.wallMs / two.wallMs).toFixed(2)} x; CPU of the workers ${one.cpuMs.toFixed(0)} and ${two.cpuMs.toFixed(0)} ms: ${(two.cpuMs / one.cpuMs).toFixed(2)} x`;
        },
      },
    ]
  : [];
if (!server) console.log('redis: not run: install redis-server or valkey-server');
