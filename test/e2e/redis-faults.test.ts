import { setTimeout as sleep } from 'node:timers/promises';
import type { CarryResult } from '@epsim/engine';
import { randomSource } from '@epsim/spec';
import { workersPresent } from '@epsim/transport/redis';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { carryInline, carryOver, moments, watchCommands } from '../support/cluster.js';
import {
  type Child,
  keysLeft,
  redisBinary,
  startRedis,
  startWorker,
  type TestRedis,
  until,
} from '../support/redis.js';
import { slowNetwork } from '../support/slow-network.js';

describe.skipIf(redisBinary === null)('workers that fail', () => {
  let redis: TestRedis;
  let expected: CarryResult[];
  let workers: Child[] = [];
  const join = async () => {
    const worker = await startWorker(redis);
    workers.push(worker);
    return worker;
  };
  beforeAll(async () => {
    expected = await carryInline(40);
    redis = await startRedis();
    return async () => {
      for (const worker of workers) worker.process.kill('SIGKILL');
      await redis.close();
    };
  }, 60_000);
  afterEach(async () => {
    expect(await keysLeft(redis)).toEqual([]);
    workers = workers.filter(
      ({ process: { exitCode, signalCode } }) => exitCode === null && signalCode === null,
    );
  }, 60_000);
  /** That many workers, those of earlier tests among them. */
  const crew = async (count: number) => {
    while (workers.length > count) workers.pop()!.process.kill('SIGKILL');
    await Promise.all(Array.from({ length: count - workers.length }, join));
  };

  test.each([
    ['before it sends rows', moments.holds],
    ['while it sends rows', moments.sends],
    ['while it computes', moments.computes],
    ['while it combines', moments.combines],
  ])('a worker that is killed %s changes nothing', async (_, isMoment) => {
    await crew(2);
    let killed = 0;
    const stop = await watchCommands(redis, (command, pid) => {
      if (killed !== 0 || !isMoment(command)) return;
      killed = pid;
      process.kill(pid, 'SIGKILL');
    });
    const results = await carryOver(redis, { layers: 3 });
    stop();
    expect(killed).not.toBe(0);
    expect(results).toEqual(expected.slice(0, 3));
  });

  // EPSIM_KILLS=100 makes a long run of it.
  const kills = Number(process.env.EPSIM_KILLS ?? 8);
  test(
    'workers killed at random moments, again and again, change nothing',
    async () => {
      await crew(3);
      const random = randomSource(Number(process.env.EPSIM_SEED ?? 1), 'kills');
      let over = false;
      let done = 0;
      const carried = carryMany(redis, () => done >= kills, expected).finally(() => {
        over = true;
      });
      for (; done < kills && !over; done++) {
        await sleep(200 + 400 * random.uniform());
        const at = Math.floor(random.uniform() * workers.length);
        workers.splice(at, 1)[0].process.kill('SIGKILL');
        await join();
      }
      await carried;
      expect(done).toBe(kills);
    },
    60_000 + kills * 10_000,
  );

  test('a worker that sleeps longer than its lock wakes up to nothing, and serves again', async () => {
    await crew(2);
    let asleep = 0;
    const stop = await watchCommands(redis, (command, pid) => {
      if (asleep !== 0 || !moments.computes(command)) return;
      asleep = pid;
      process.kill(pid, 'SIGSTOP');
    });
    expect(await carryOver(redis, { layers: 3 })).toEqual(expected.slice(0, 3));
    stop();
    expect(asleep).not.toBe(0);
    process.kill(asleep, 'SIGCONT');
    for (const worker of workers) if (worker.process.pid !== asleep) worker.process.kill('SIGKILL');
    expect(await carryOver(redis, { layers: 2 })).toEqual(expected.slice(0, 2));
  });

  test('a worker behind a network that takes 50 ms each way, and is parted for longer than its lock, changes nothing', async () => {
    await crew(1);
    const network = await slowNetwork(redis.port, 50);
    const far = await startWorker({ ...redis, url: redis.url.replace(`:${redis.port}`, `:${network.port}`) });
    try {
      const layers = 4;
      const results = await carryOver(redis, {
        layers,
        onLayer: async (done) => {
          if (done !== 1) return;
          // The next layer is on its way by then.
          void sleep(100).then(async () => {
            network.part();
            await sleep(2500);
            network.join();
          });
        },
      });
      expect(results).toEqual(expected.slice(0, layers));
      await until(async () => (await workersPresent(redis.admin)).length === 2, 'a worker that is back');
    } finally {
      far.process.kill('SIGKILL');
      await far.exit;
      network.close();
    }
  });

  test('a worker that joins while a run goes on takes its share, and one that leaves gives it back', async () => {
    await crew(1);
    const [first] = workers;
    let late: Child | null = null;
    const layers = 20;
    const notes: string[] = [];
    const carried = carryOver(redis, {
      layers,
      shards: 4,
      note: (text) => notes.push(text),
      onLayer: async (done) => {
        if (done === 2) late = await join();
        if (done === 4)
          await until(async () => (await shardsHeld(redis)) === '2 and 2', 'shards that change hands');
        if (done === 12) first.process.kill('SIGTERM');
      },
    });
    expect(await carried).toEqual(expected.slice(0, layers));
    // A shard that is given back between layers costs no layer.
    expect(notes).toEqual([]);
    expect(await first.exit).toBe(0);
    expect(late).not.toBeNull();
  });

  test('the ranks are shared out anew, a shard for each thread, when a worker joins and when one is killed', async () => {
    await crew(1);
    const [first] = workers;
    const layers = 40;
    const held = new Set<string>();
    const results = await carryOver(redis, {
      layers,
      onLayer: async (done) => {
        if (done === 2) workers.push(await startWorker(redis, ['--threads', '2']));
        if (done === 20) first.process.kill('SIGKILL');
        await sleep(250);
        held.add(await shardsHeld(redis));
      },
    });
    expect(results).toEqual(expected.slice(0, layers));
    for (const way of ['1', '1 and 2', '2']) expect(held).toContain(way);
  });
});

/** How many shards each worker says that it holds, the oldest worker first. */
async function shardsHeld({ admin }: TestRedis): Promise<string> {
  const cards = await workersPresent(admin);
  return cards.map(({ doing }) => doing.match(/shard \d+ of/g)?.length ?? 0).join(' and ');
}

/** Carries the layers over and over until enough has happened; every result is the expected one. */
async function carryMany(
  redis: TestRedis,
  enough: () => boolean,
  expected: readonly CarryResult[],
): Promise<void> {
  while (!enough()) expect(await carryOver(redis, { layers: 6 })).toEqual(expected.slice(0, 6));
}
