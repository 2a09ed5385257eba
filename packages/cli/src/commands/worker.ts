/** `epsim worker`: one process of a cluster. It ends when it is told to, or when Redis is gone for good. */
import type { Command } from 'commander';
import { redisUrl } from '../redis-url.js';
import { terminal } from '../terminal.js';
import { version } from '../version.js';
import { integer } from './common.js';

interface WorkerOptions {
  readonly redis?: string;
  readonly threads: number;
  readonly lock: number;
  readonly patience: number;
  readonly quiet?: boolean;
}

export function workerCommand(program: Command): void {
  program
    .command('worker')
    .summary('join a cluster as a worker process')
    .description(
      'Joins the cluster at a Redis server and computes for the runs that are started with --redis. Takes only work of its own version; no code comes over Redis. Ctrl-C ends it after the job in hand.',
    )
    .option(
      '--redis <url>',
      'address of Redis (or EPSIM_REDIS_URL, which other users of the machine do not see)',
    )
    .option('--threads <n>', 'threads that compute', integer(1), 1)
    .option('--lock <seconds>', 'a silent worker loses its job after so long', integer(1), 15)
    .option('--patience <seconds>', 'longest time that Redis may be away', integer(1), 300)
    .option('--quiet', 'no notes')
    .addHelpText('after', '\nExample:\n  epsim worker --redis redis://127.0.0.1:6379 --threads 2')
    .action(work);
}

async function work(options: WorkerOptions): Promise<void> {
  const term = terminal(options.quiet === true);
  const url = await redisUrl(options.redis, term.note);
  const { joinCluster } = await import('@epsim/cluster');
  const { addressOf } = await import('@epsim/transport/redis');
  // Listened for before anybody reads that it serves, and may tell it to leave.
  let joined = false;
  const told = new Promise<void>((resolve) => {
    const onSignal = () => {
      if (!joined) process.exit(130);
      term.note('leaving after the job in hand; press Ctrl-C again to leave at once');
      process.once('SIGINT', () => process.exit(130));
      resolve();
    };
    process.once('SIGINT', onSignal);
    process.once('SIGTERM', onSignal);
  });
  const worker = await joinCluster({
    ...{ url, version, threads: options.threads, note: term.note },
    lockMs: options.lock * 1000,
    patienceMs: options.patience * 1000,
    pointMs: 24 * 3_600_000,
  });
  joined = true;
  term.note(`worker ${worker.id}, version ${version}, serves ${addressOf(url).shown}; Ctrl-C ends it`);
  try {
    await Promise.race([told, worker.failed]);
  } finally {
    await worker.close();
    // Whatever still holds on to a Redis that is gone must not hold the process.
    setTimeout(() => process.exit(), 5000).unref();
  }
}
