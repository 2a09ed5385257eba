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
import { coordinate, shardsFor } from '@epsim/cluster';
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
  mail.open(0, [new Uint8Array(1)]);
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
    ordersKey('bench', 0, 0),
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

/** A session over Redis whose shards are as many as a run would have. */
async function overRedis(size) {
  await connect().then((redis) => redis.disconnect());
  const fabric = await coordinate({
    ...{ url: `redis://127.0.0.1:${port}`, name: 'bench', version: '0.1.0' },
    ...{ patienceMs: 30_000, phaseMs: 120_000, note: () => {} },
  });
  return opened(size, fabric, () => shardsFor(fabric, 8));
}

function inline(size) {
  return opened(size, inlineShards(createShardHandler()), () => 1);
}

/** One layer of `size`, to be carried any number of times. The reference belongs to no side: what is measured is the fabric. */
function opened(size, reach, shardCount) {
  const { plan, options } = layer(size, shardCount);
  const session = new CarrySession(options, reach);
  const work = session.layOut(plan, 0, 0);
  return { carry: () => session.fabric.carryLayer(work), close: () => session.close() };
}

async function wallMs(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

const middle = (values) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

const empty = { tokensPerRank: 4, expertCount: 16, width: 64, inner: 8 };
const step50 = { tokensPerRank: 4, expertCount: 16, width: 512, inner: 3200 };
const heavy = { tokensPerRank: 32, expertCount: 64, width: 512, inner: 2048 };

/** Layers over workers of one thread, in turns with the same layers in this process, after some that load and warm. */
function besideInline(name, size, workers, layers) {
  const walls = { over: [], here: [], more: [] };
  return {
    name,
    subject: {
      name: `over ${workers === 1 ? 'one worker' : 'two workers'} and inline in turns`,
      work: async () => {
        await workersAre(workers);
        const [over, here] = [await overRedis(size), inline(size)];
        for (let i = -Math.min(200, layers); i < layers; i++) {
          const took = { here: await wallMs(here.carry), over: await wallMs(over.carry) };
          if (i < 0) continue;
          for (const side of ['here', 'over']) walls[side].push(took[side]);
          walls.more.push(took.over - took.here);
        }
        await over.close();
        await here.close();
      },
    },
    runs: 5,
    warm: false,
    note: () => {
      const [over, here, more] = [middle(walls.over), middle(walls.here), middle(walls.more)];
      return `a step: ${over.toFixed(2)} ms over Redis, ${here.toFixed(2)} ms inline; ${more.toFixed(2)} ms more, ${((100 * more) / 50).toFixed(1)} % of a step of 50 ms`;
    },
  };
}

/** Layers that compute for long, over so many workers: wall time, and CPU time of the workers for one. */
async function heavyLayers(workers, layers) {
  await workersAre(workers);
  const over = await overRedis(heavy);
  const walls = [];
  // A worker that has just joined compiles its code first; the other one did long ago.
  for (let i = 0; i < 5; i++) await over.carry();
  const cpu = workerCpuMs();
  for (let i = 0; i < layers; i++) walls.push(await wallMs(over.carry));
  const cpuMs = (workerCpuMs() - cpu) / layers;
  await over.close();
  return { wallMs: middle(walls), cpuMs };
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
      besideInline('redis-step: a step of about 50 ms', step50, 1, 50),
      {
        name: 'redis-workers: compute-bound layers',
        baseline: {
          name: 'one worker process',
          work: async () => {
            took.one.push(await heavyLayers(1, 8));
          },
        },
        subject: {
          name: 'two worker processes, joining included',
          work: async () => {
            took.two.push(await heavyLayers(2, 8));
          },
        },
        runs: 5,
        warm: false,
        note: () => {
          const of = (list, figure) => middle(list.map((took) => took[figure]));
          const [one, two] = [took.one, took.two].map((list) => ({
            wallMs: of(list, 'wallMs'),
            cpuMs: of(list, 'cpuMs'),
          }));
          return `a layer: ${one.wallMs.toFixed(0)} ms with one, ${two.wallMs.toFixed(0)} ms with two: ${(one.wallMs / two.wallMs).toFixed(2)} x; CPU of the workers ${one.cpuMs.toFixed(0)} and ${two.cpuMs.toFixed(0)} ms: ${(two.cpuMs / one.cpuMs).toFixed(2)} x`;
        },
      },
    ]
  : [];
if (!server) console.log('redis: not run: install redis-server or valkey-server');
