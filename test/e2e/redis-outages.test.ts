import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { showCard } from '@epsim/transport/redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { carryInline, carryOver } from '../support/cluster.js';
import { emptyFolder, epsim, root } from '../support/epsim.js';
import {
  type Child,
  keysLeft,
  lines,
  redisBinary,
  startEpsim,
  startRedis,
  startWorker,
  type TestRedis,
  until,
} from '../support/redis.js';

const small = join(root, 'test/e2e/small.yaml');

describe.skipIf(redisBinary === null)('a Redis that goes away', () => {
  test.each([
    ['with what it had on disk', true],
    ['empty', false],
  ])('and comes back %s costs time and nothing else', async (_, persistent) => {
    const redis = await startRedis({ persistent });
    const workers = await Promise.all([startWorker(redis), startWorker(redis)]);
    try {
      const layers = 6;
      const notes: string[] = [];
      const results = await carryOver(redis, {
        layers,
        note: (text) => notes.push(text),
        onLayer: async (done) => {
          if (done !== 2) return;
          // The next layer is on its way by then.
          void sleep(30).then(async () => {
            await redis.kill();
            await sleep(300);
            await redis.restart();
          });
        },
      });
      expect(results).toEqual(await carryInline(layers));
      expect(notes.length > 0).toBe(!persistent);
      expect(await keysLeft(redis)).toEqual([]);
    } finally {
      for (const worker of workers) worker.process.kill('SIGKILL');
      await redis.close();
    }
  });

  test('for good ends run and worker with code 4, with what is kept and how to go on, and without the password', async () => {
    const redis = await startRedis();
    const worker = await startWorker(redis, ['--patience', '2']);
    const dir = join(emptyFolder(), 'run');
    const args = ['run', small, '--out', dir, '--set', 'steps=2000', '--set', 'carry.steps=2000'];
    const run = startEpsim([...args, '--redis', redis.url, '--patience', '2']);
    await until(() => lines(join(dir, 'records.jsonl')) > 4, `records of a run: ${run.stderr}`);
    await redis.close();
    expect(await run.exit).toBe(4);
    expect(run.stderr).toMatch(/Redis .*; \d+ of 4000 layers are finished and kept in .*--resume --out/);
    expect(await worker.exit).toBe(4);
    expect(worker.stderr).toMatch(/Redis is away/);
    expect(run.stdout + run.stderr + worker.stdout + worker.stderr).not.toContain(redis.password);
    expect(existsSync(join(dir, '.running'))).toBe(false);
  });
});

describe.skipIf(redisBinary === null)('a cluster that cannot do a run', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
    return () => redis.close();
  }, 60_000);
  const run = (...more: string[]) => {
    const out = join(emptyFolder(), 'run');
    return startEpsim(['run', small, '--out', out, '--redis', redis.url, '--patience', '1', ...more]);
  };

  test('without workers is given up in time, with the command that starts one', async () => {
    const { exit, stderr } = await finished(run());
    expect(exit).toBe(4);
    expect(stderr).toMatch(
      /no worker joined redis:\/\/127\.0\.0\.1:\d+ within 1 s; start one: epsim worker --redis/,
    );
    expect(stderr).not.toContain(redis.password);
    expect(await keysLeft(redis)).toEqual([]);
  });

  test('of another version is refused by run and worker, in one line', async () => {
    const card = {
      id: 'old-1',
      version: '0.0.9',
      host: 'h',
      pid: 1,
      threads: 1,
      joined: 1,
      lanes: [],
      doing: '',
    };
    await showCard(redis.admin, { ...card, jobsDone: 0 }, 60_000);
    const refusals = [run(), startEpsim(['worker', '--redis', redis.url])];
    for (const { exit, stderr } of await Promise.all(refusals.map(finished))) {
      expect(exit).toBe(4);
      expect(stderr.trim()).toMatch(/^worker old-1 is version 0\.0\.9, this is .*; versions do not mix.*$/);
    }
    await redis.admin.del('epsim:worker:old-1');
  });

  test('with the wrong password, or no Redis at all, is refused without showing the password', async () => {
    const wrong = redis.url.replace(redis.password, 'not-this-one');
    const nobody = 'redis://epsim:not-this-one@127.0.0.1:1';
    for (const [url, why] of [
      [wrong, /wants another user or password/],
      [nobody, /ECONNREFUSED.*apt-get install redis-server/],
      [`${redis.url}/99`, /DB index is out of range/],
    ] as const) {
      const { exit, stderr } = await finished(run('--redis', url));
      expect(exit).toBe(4);
      expect(stderr).toMatch(why);
      expect(stderr).not.toContain('not-this-one');
    }
    const { status, stderr } = epsim(['run', small, '--redis', 'http://user:secret@host']);
    expect({ status, shown: stderr.includes('secret') }).toEqual({ status: 2, shown: false });
    const unnamed = epsim(['run', small, '--transport', 'redis']);
    expect(unnamed.status).toBe(2);
    expect(unnamed.stderr).toMatch(/--redis: no address; .*apt-get install redis-server/);
  });
});

describe.skipIf(redisBinary === null)('a Redis with little memory', () => {
  let redis: TestRedis;
  let worker: Child;
  beforeAll(async () => {
    redis = await startRedis({ args: ['--maxmemory-policy', 'noeviction'] });
    worker = await startWorker(redis);
    return async () => {
      worker.process.kill('SIGKILL');
      await redis.close();
    };
  }, 60_000);
  const allow = (bytes: number) => redis.admin.config('SET', 'maxmemory', bytes);

  test('is named with figures before anything is sent that would not fit, and room for one layer is enough for many', async () => {
    const leave = async (bytes: number) => {
      const inboxes = () => redis.admin.keys('epsim:run:*:in.*');
      await until(async () => (await inboxes()).length === 0, 'inboxes that are removed');
      await allow((await usedBytes(redis)) + bytes);
      // Redis is asked four times a second.
      await sleep(300);
    };
    const named =
      /needs (\d+\.\d) MiB in Redis, which uses \d+\.\d MiB of \d+\.\d MiB \(maxmemory\); raise maxmemory/;
    const refused = await carryOver(redis, { layers: 2, onLayer: () => leave(200_000) }).catch(String);
    const needed = Number(named.exec(String(refused))?.[1]) * 2 ** 20;
    expect(needed).toBeGreaterThan(400_000);
    await allow(0);
    const onLayer = (done: number) => (done === 1 ? leave(Math.round(1.7 * needed)) : sleep(300));
    expect(await carryOver(redis, { layers: 6, onLayer })).toEqual(await carryInline(6));
    await allow(0);
    expect(await keysLeft(redis)).toEqual([]);
  });

  test('that is full in the middle of a layer ends the run within its bound, and the next one goes well', async () => {
    // The worker sleeps from the end of the first layer until the second has begun and Redis is full.
    const onLayer = async () => {
      worker.process.kill('SIGSTOP');
      void until(async () => (await redis.admin.keys('epsim:run:*:in.1.0')).length > 0, 'a second layer')
        .then(() => allow(1))
        .finally(() => worker.process.kill('SIGCONT'));
    };
    const failed = carryOver(redis, { layers: 2, patienceMs: 2000, phaseMs: 4000, onLayer });
    await expect(failed).rejects.toThrow(/Redis is full|no answer within 4 s/);
    await allow(0);
    expect(await carryOver(redis, { layers: 1 })).toEqual(await carryInline(1));
    await until(async () => (await keysLeft(redis)).length === 0, 'an empty Redis');
  });

  test('that is full for a moment costs time and nothing else', async () => {
    // Only the shards write in that moment: their worker's lock is long.
    const own = await startRedis({ args: ['--maxmemory-policy', 'noeviction'] });
    const patient = await startWorker(own, ['--lock', '30']);
    const limit = (bytes: number) => own.admin.config('SET', 'maxmemory', bytes);
    const refusals = async () =>
      Number(/errorstat_OOM:count=(\d+)/.exec(await own.admin.info('errorstats'))?.[1] ?? 0);
    const onLayer = async (done: number) => {
      if (done !== 1) return;
      patient.process.kill('SIGSTOP');
      void until(async () => (await own.admin.keys('epsim:run:*:in.1.0')).length > 0, 'a second layer')
        .then(() => limit(1))
        .then(() => patient.process.kill('SIGCONT'))
        .then(() => until(async () => (await refusals()) > 0, 'a refusal'))
        .finally(() => limit(0));
    };
    try {
      const options = { layers: 2, shards: 1, phaseMs: 20_000, onLayer };
      expect(await carryOver(own, options)).toEqual(await carryInline(2));
      expect(await refusals()).toBeGreaterThan(0);
      expect(await keysLeft(own)).toEqual([]);
    } finally {
      patient.process.kill('SIGKILL');
      await own.close();
    }
  });
});

describe.skipIf(redisBinary === null)('a coordinator', () => {
  let redis: TestRedis;
  let workers: Child[];
  let inline: string;
  const steps = ['--set', 'steps=12', '--set', 'carry.steps=12'];
  beforeAll(async () => {
    redis = await startRedis();
    workers = await Promise.all([startWorker(redis), startWorker(redis)]);
    inline = join(emptyFolder(), 'inline');
    expect(epsim(['run', small, ...steps, '--out', inline, '--transport', 'inline']).status).toBe(0);
  }, 60_000);
  afterAll(async () => {
    for (const worker of workers) worker.process.kill('SIGKILL');
    await redis.close();
  }, 60_000);

  test('that is killed leaves a run that --resume finishes to the same bytes, and workers clear up after it', async () => {
    const dir = join(emptyFolder(), 'run');
    const args = ['run', small, ...steps, '--out', dir, '--redis', redis.url];
    const first = startEpsim(args);
    await until(() => lines(join(dir, 'records.jsonl')) >= 5, `records of a run: ${first.stderr}`);
    first.process.kill('SIGKILL');
    await first.exit;
    const kept = readFileSync(join(dir, 'records.jsonl'), 'utf8');
    expect(lines(join(dir, 'records.jsonl'))).toBeLessThan(24);
    // As if it had been killed in the middle of a line.
    writeFileSync(join(dir, 'records.jsonl'), `${kept}{"step":9,"lay`);
    expect(epsim(args).stderr).toMatch(/a run is already there/);
    const other = epsim([...args, '--set', 'carry.expertInnerSize=8', '--resume']);
    expect(other.status).toBe(2);
    expect(other.stderr).toMatch(/scenario.resolved.yaml: not this scenario; resume with the same/);
    const second = await finished(startEpsim([...args, '--resume']));
    expect(second).toMatchObject({ exit: 0, stderr: '' });
    expectSameRun(dir, inline);
    expect(epsim([...args, '--resume']).stderr).toMatch(/that run is finished; nothing is left to resume/);
    // The token of the dead one lives for some seconds; let it be over.
    for (const run of await redis.admin.smembers('epsim:runs')) await redis.admin.del(`epsim:run:${run}`);
    await until(async () => (await keysLeft(redis)).length === 0, 'workers that clear up');
    for (const file of readdirSync(dir))
      expect(readFileSync(join(dir, file)).includes(redis.password)).toBe(false);
  });

  test('that is interrupted keeps its finished steps and leaves nothing in Redis', async () => {
    const dir = join(emptyFolder(), 'run');
    const run = startEpsim(['run', small, ...steps, '--out', dir, '--redis', redis.url]);
    await until(() => lines(join(dir, 'records.jsonl')) >= 5, `records of a run: ${run.stderr}`);
    run.process.kill('SIGINT');
    expect(await run.exit).toBe(130);
    expect(run.stderr).toMatch(/interrupted: \d+ of 12 steps are finished and kept/);
    expect(await keysLeft(redis)).toEqual([]);
  });

  test('of the same name as another one does not disturb it', async () => {
    const folder = emptyFolder();
    const start = (out: string) =>
      startEpsim(['run', small, ...steps, '--out', join(folder, out), '--redis', redis.url]);
    const runs = [start('a'), start('b')];
    for (const { exit, stderr } of await Promise.all(runs.map(finished)))
      expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expectSameRun(join(folder, 'a'), inline);
    expectSameRun(join(folder, 'b'), inline);
    expect(await keysLeft(redis)).toEqual([]);
  });

  test('whose disk is full ends with code 4 and keeps what is whole, and goes on when there is room', async () => {
    const dir = join(emptyFolder(), 'run');
    const args = ['run', small, ...steps, '--out', dir, '--redis', redis.url];
    // A limit of the shell's stands for the disk: no file may be larger than 8 x 512 bytes.
    const limited = startEpsim(args, {}, { fileBlocks: 8 });
    const { exit, stderr } = await finished(limited);
    expect(exit).toBe(4);
    expect(stderr).toMatch(
      /the file would be larger than is allowed; \d+ of 24 layers are finished and kept/,
    );
    const again = await finished(startEpsim([...args, '--resume']));
    expect(again).toMatchObject({ exit: 0, stderr: '' });
    expectSameRun(dir, inline);
  });
});

async function finished(child: Child): Promise<{ exit: number | null; stderr: string }> {
  const exit = await child.exit;
  return { exit, stderr: child.stderr };
}

async function usedBytes({ admin }: TestRedis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await admin.info('memory'))?.[1]);
}

function expectSameRun(dir: string, as: string): void {
  const files = readdirSync(as).filter((file) => file !== 'timings.json');
  expect(readdirSync(dir).filter((file) => file !== 'timings.json')).toEqual(files);
  for (const file of files) {
    expect(readFileSync(join(dir, file)).equals(readFileSync(join(as, file))), file).toBe(true);
  }
}
