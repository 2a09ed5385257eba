/** `epsim cluster status`: who is there, what each does, how much waits, what Redis holds. */
import type { ClusterStatus } from '@epsim/transport/redis';
import type { Command } from 'commander';
import { redisUrl } from '../redis-url.js';
import { terminal } from '../terminal.js';
import { version } from '../version.js';
import { integer, type OutputOptions, withOutput } from './common.js';

interface StatusOptions extends OutputOptions {
  readonly redis?: string;
  readonly patience: number;
}

export function clusterCommand(program: Command): void {
  const cluster = program.command('cluster').summary('what a cluster of workers does');
  withOutput(cluster.command('status'))
    .summary('workers, versions, queues and bytes in Redis')
    .option('--redis <url>', 'address of Redis (or EPSIM_REDIS_URL)')
    .option('--patience <seconds>', 'longest wait for Redis', integer(1), 10)
    .addHelpText('after', '\nExample:\n  epsim cluster status --redis redis://127.0.0.1:6379')
    .exitOverride()
    .action(status);
  cluster
    .exitOverride()
    .addHelpText('after', '\nExample:\n  epsim cluster status --redis redis://127.0.0.1:6379');
}

async function status(options: StatusOptions): Promise<void> {
  const term = terminal(options.quiet === true);
  const url = await redisUrl(options.redis, term.note);
  const { clusterStatus, versionConflict } = await import('@epsim/transport/redis');
  const found = await clusterStatus(url, options.patience * 1000);
  const conflict = versionConflict(found.workers, version);
  if (conflict !== null) term.note(`warning: ${conflict}`);
  term.answer(options.json ? JSON.stringify({ version, ...found }, null, 2) : textOf(found));
}

function textOf({ workers, queues, runs, redis }: ClusterStatus): string {
  const mib = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
  const limit = redis.maxBytes === null ? 'no limit' : `of ${mib(redis.maxBytes)}`;
  const lines = [
    `redis ${redis.version}: ${mib(redis.usedBytes)} used, ${limit}; ${mib(redis.ownBytes)} of it epsim's`,
    ...runs.map(({ id, driven }) => `run ${id}${driven ? '' : ': its coordinator is silent'}`),
    ...queues.map(({ queue, waiting, active }) => `queue ${queue}: ${waiting} waiting, ${active} in hand`),
    `${workers.length} workers${workers.length === 0 ? '; start one: epsim worker --redis URL' : ''}`,
    ...workers.map(
      ({ id, version: its, host, threads, lanes, jobsDone, doing }) =>
        `  ${id} on ${host}, version ${its}, ${threads} threads, lanes ${lanes.join(' ')}, ${jobsDone} jobs done: ${doing}`,
    ),
  ];
  return lines.join('\n');
}
