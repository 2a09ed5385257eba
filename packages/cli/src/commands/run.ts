/** `epsim run`: one experiment, carried and timed, into a run folder. */
import { join } from 'node:path';
import { carriedBy, terminalSummary } from '@epsim/report';
import type { WhenFolderExists } from '@epsim/results';
import type { Scenario } from '@epsim/spec';
import { type Command, Option } from 'commander';
import { UsageError } from '../failure.js';
import { redisUrl } from '../redis-url.js';
import { runScenario } from '../run-scenario.js';
import { loadScenario, readerBeside } from '../scenario-file.js';
import { terminal } from '../terminal.js';
import { integer, interruptSignal, type OutputOptions, withOutput, withSet } from './common.js';

interface RunOptions extends OutputOptions {
  readonly out?: string;
  readonly force?: boolean;
  readonly set: readonly string[];
  readonly seed?: number;
  readonly resume?: boolean;
  readonly transport?: 'inline' | 'thread' | 'redis';
  readonly workers?: number;
  readonly redis?: string;
  readonly patience: number;
  readonly phaseLimit: number;
  readonly timeOnly?: boolean;
  readonly carryOnly?: boolean;
}

export function runCommand(program: Command): void {
  withOutput(withSet(program.command('run').argument('<scenario>', 'a YAML or JSON file')))
    .summary('one experiment: carried and timed')
    .description(
      'Runs a scenario: routes, plans and times every step, carries the last ones for real, and writes a run folder.',
    )
    .option('--out <dir>', 'run folder (default: runs/<name of the scenario>, numbered when taken)')
    .option('--force', 'replace a run that is already in --out')
    .option('--seed <n>', "another seed than the scenario's", integer(0, Number.MAX_SAFE_INTEGER))
    .option('--resume', 'go on with an interrupted run in --out')
    .addOption(
      new Option('--transport <kind>', 'how rows are carried').choices(['inline', 'thread', 'redis']),
    )
    .option('--workers <n>', 'threads that carry, or shards over --redis', integer(1, 256))
    .option('--redis <url>', 'carry by the workers of the cluster at this Redis (or EPSIM_REDIS_URL)')
    .option('--patience <seconds>', 'longest wait for Redis or for a worker to be there', integer(1), 60)
    .option('--phase-limit <seconds>', 'longest time for one phase of one layer', integer(1), 300)
    .option('--time-only', 'do not carry')
    .option('--carry-only', 'do not time')
    .addHelpText(
      'after',
      '\nExample:\n  epsim run scenarios/k3-quickstart.yaml --set routing.policy=top-k --out runs/top-k',
    )
    .action(run);
}

async function run(path: string, options: RunOptions): Promise<void> {
  if (options.timeOnly && options.carryOnly) {
    throw new UsageError('--time-only and --carry-only: nothing is left to do; give one of them');
  }
  const term = terminal(options.quiet === true);
  const set = [...options.set, ...(options.seed === undefined ? [] : [`seed=${options.seed}`])];
  const loaded = loadScenario(path, set);
  const scenario = options.timeOnly ? { ...loaded, carry: null } : loaded;
  if (options.carryOnly && !scenario.carry) {
    throw new UsageError(`${path}: --carry-only: the scenario carries nothing; add a "carry:" section`);
  }
  const transport = transportOf(options, scenario);
  const redis =
    transport === 'redis' && scenario.carry ? await redisUrl(options.redis, term.note) : undefined;
  const { signal, release } = interruptSignal(term.note);
  try {
    const { summary, dir, timings } = await runScenario(
      {
        scenario,
        out: options.out ?? join('runs', scenario.name),
        whenExists: whenExists(options),
        transport,
        ...(options.workers === undefined ? {} : { workers: options.workers }),
        ...(redis === undefined ? {} : { redis }),
        patienceMs: options.patience * 1000,
        phaseMs: options.phaseLimit * 1000,
        timed: !options.carryOnly,
        readFile: readerBeside(path, set),
        signal,
      },
      term,
    );
    if (options.json) term.answer(JSON.stringify(summary, null, 2));
    else
      term.answer(
        `${terminalSummary(summary, { width: term.width, colour: term.colour, ...carriedBy(timings) })}\nrun folder: ${dir}`,
      );
  } finally {
    release();
  }
}

/** What the command line says; else a cluster when one is named; else what the scenario says, or threads. */
function transportOf(options: RunOptions, scenario: Scenario): 'inline' | 'thread' | 'redis' {
  return options.transport ?? (options.redis ? 'redis' : (scenario.carry?.transport ?? 'thread'));
}

function whenExists(options: RunOptions): WhenFolderExists {
  if (options.resume) return 'resume';
  if (options.force) return 'replace';
  return options.out === undefined ? 'number' : 'refuse';
}
