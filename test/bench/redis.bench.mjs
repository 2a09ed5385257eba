// What carrying over Redis costs, on a server of the benchmark's own: frames against a bare pipeline of the same
// client, two worker processes against one, and what a layer takes beyond its computing.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { coordinate } from '@epsim/cluster';
import { CarrySession, createShardHandler, planDispatch } from '@epsim/engine';
import { randomSource } from '@epsim/spec';
import { inlineShards } from '@epsim/transport';
import { FrameStore, workersPresent } from '@epsim/transport/redis';
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
  const redis = await connect();
  await redis.set('epsim:run:bench', 't');
  const options = { run: 'bench', token: 't', expireMs: 60_000, patienceMs: 30_000 };
  const store = new FrameStore(redis, options);
  const channel = await store.put('rows', [{ from: 0, to: 0, bytes: payload }]);
  await store.take(channel, ({ offset, bytes }) => into.set(bytes, offset));
  await store.drop([channel]);
  redis.disconnect();
}

/** A layer of 8 ranks; `inner` sets how much it computes. */
function layer(inner, shardCount) {
  const [rankCount, tokensPerRank, expertCount, topK] = [8, 32, 64, 4];
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
  const width = 512;
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

/** Milliseconds of each of `layers` layers after a first one, which loads the weights. */
async function overRedis(inner, layers) {
  await connect().then((redis) => redis.disconnect());
  const { plan, options } = layer(inner, 8);
  const fabric = await coordinate({
    ...{ url: `redis://127.0.0.1:${port}`, name: 'bench', version: '0.1.0' },
    ...{ patienceMs: 30_000, phaseMs: 120_000, note: () => {} },
  });
  const session = new CarrySession(options, fabric);
  // The reference belongs to neither side: what is measured is the fabric.
  const work = session.layOut(plan, 0, 0);
  await fabric.carryLayer(work);
  const started = performance.now();
  for (let i = 0; i < layers; i++) await fabric.carryLayer(work);
  const took = (performance.now() - started) / layers;
  await session.close();
  return took;
}

const took = { one: [], two: [], empty: [], inline: [] };
const middle = (values) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

async function emptyInline() {
  const { plan, options } = layer(8, 1);
  const session = new CarrySession(options, inlineShards(createShardHandler()));
  const work = session.layOut(plan, 0, 0);
  await session.fabric.carryLayer(work);
  const started = performance.now();
  for (let i = 0; i < 20; i++) await session.fabric.carryLayer(work);
  took.inline.push((performance.now() - started) / 20);
  await session.close();
}

export const benchmarks = server
  ? [
      {
        name: 'redis-frames: 32 MiB there and back',
        baseline: { name: 'bare pipeline of the same client', work: barePipeline },
        subject: { name: 'frames', work: frames },
        runs: 7,
      },
      {
        name: 'redis-workers: compute-bound layers',
        baseline: {
          name: 'one worker process',
          work: async () => {
            await workersAre(1);
            took.one.push(await overRedis(2048, 3));
          },
        },
        subject: {
          name: 'two worker processes, joining included',
          work: async () => {
            await workersAre(2);
            took.two.push(await overRedis(2048, 3));
          },
        },
        runs: 3,
        note: () =>
          `a layer: ${middle(took.one).toFixed(0)} ms with one, ${middle(took.two).toFixed(0)} ms with two: ${(middle(took.one) / middle(took.two)).toFixed(2)} x`,
      },
      {
        name: 'redis-jobs: a layer of almost no computing, 8 shards on two workers',
        baseline: { name: 'inline, 20 layers', work: emptyInline },
        subject: {
          name: 'over Redis, 20 layers',
          work: async () => {
            await workersAre(2);
            took.empty.push(await overRedis(8, 20));
          },
        },
        runs: 3,
        note: () =>
          `a layer: ${middle(took.empty).toFixed(1)} ms over Redis, ${middle(took.inline).toFixed(1)} ms inline; three phases of eight jobs`,
      },
    ]
  : [];
if (!server) console.log('redis: not run: install redis-server or valkey-server');
