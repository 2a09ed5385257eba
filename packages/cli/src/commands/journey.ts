/** `epsim journey`: one token through the miniature K3, as a trace and as an animated page. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createShardHandler, type ShardFabric } from '@epsim/engine';
import {
  contextMarkdown,
  drawCharts,
  journeyHtml,
  ledgerMarkdown,
  mechanismsMarkdown,
  scaleCharts,
  terminalJourney,
  trainingCharts,
} from '@epsim/report';
import { makeFolder } from '@epsim/results';
import { type ModelShape, modelPresets } from '@epsim/spec';
import { inlineShards, type ShardPool, threadShards } from '@epsim/transport';
import { shardEntry } from '@epsim/workers';
import { type Command, Option } from 'commander';
import { UsageError } from '../failure.js';
import { focusOf, journeyRefusal } from '../journey/miniature.js';
import { fullScale } from '../journey/scale.js';
import { journey } from '../journey/trace.js';
import { type Trained, trainForms, trainingSteps } from '../journey/training.js';
import { redisUrl } from '../redis-url.js';
import { loadScenario } from '../scenario-file.js';
import { type Terminal, terminal } from '../terminal.js';
import { version } from '../version.js';
import { integer, interruptSignal, type OutputOptions, withOutput, withSet } from './common.js';

interface JourneyOptions extends OutputOptions {
  readonly out?: string;
  readonly set: readonly string[];
  readonly seed?: number;
  readonly text: string;
  readonly train?: boolean;
  readonly scale?: boolean;
  readonly steps: number;
  readonly sequences: number;
  readonly token?: number;
  readonly transport?: 'inline' | 'thread' | 'redis';
  readonly workers?: number;
  readonly redis?: string;
  readonly patience: number;
}

/** Longest time that one phase of one layer may take. */
const PHASE_LIMIT_MS = 60_000;

/** Most sequences of a training step: about a minute of one core, and Ctrl-C is heard between steps. */
const MOST_SEQUENCES = 64;

export function journeyCommand(program: Command): void {
  withOutput(
    withSet(
      program
        .command('journey')
        .argument(
          '[scenario]',
          'a scenario whose model, ranks and seed are used (default: kimi-k3-mini, 8 ranks)',
        ),
    ),
  )
    .summary('one token through the miniature K3: sequence, depth, width')
    .description(
      'Sends a picture and a text through a miniature Kimi K3 with its expert layers carried between ranks, and shows what one token meets: as numbers, as journey.json, and as an animated page.',
    )
    .option('--out <dir>', 'folder for journey.json and journey.html')
    .option('--text <words>', 'text after the picture', 'the moon is bright now\na comet is ')
    .option('--token <n>', 'position in the stream to follow, picture first (default: the last)', integer(0))
    .option('--seed <n>', "another seed than the scenario's, or 7", integer(0, Number.MAX_SAFE_INTEGER))
    .option('--scale', 'Kimi K3 at full size instead: mechanisms, context, Kimi K2 beside it; nothing is run')
    .option(
      '--train',
      'train the miniature for a few steps too, in three forms (minutes): charts, and the next token after it',
    )
    .option('--steps <n>', 'steps of each training run', integer(2), 12)
    .option('--sequences <n>', 'sequences of 64 tokens in each step', integer(1, MOST_SEQUENCES), 4)
    .addOption(
      new Option('--transport <kind>', 'how rows are carried (default: inline)').choices([
        'inline',
        'thread',
        'redis',
      ]),
    )
    .option('--workers <n>', 'threads that carry, or shards over --redis', integer(1))
    .option('--redis <url>', 'carry by the workers of the cluster at this Redis (or EPSIM_REDIS_URL)')
    .option('--patience <seconds>', 'longest wait for Redis or for a worker to be there', integer(1), 60)
    .addHelpText('after', '\nExample:\n  epsim journey --out runs/journey')
    .action(run);
}

async function run(path: string | undefined, options: JourneyOptions): Promise<void> {
  const term = terminal(options.quiet === true);
  if (options.scale) return showScale(path, options, term);
  const { shape, seed, rankCount } = settings(path, options);
  const refusal = journeyRefusal(shape);
  if (refusal !== null) {
    throw new UsageError(`${path ?? 'journey'}: model: ${shape.name}: ${refusal}; use kimi-k3-mini`);
  }
  // What can be refused is refused before minutes of training.
  const focus = await refusing(() => focusOf(shape, options.text, options.token ?? null));
  if (options.out !== undefined) makeFolder(options.out);
  const trained = options.train ? await train(shape, seed, options, term) : null;
  const { reach, shardCount } = await openReach(options, rankCount, term);
  const request = {
    ...{ shape, seed, focus, rankCount, shardCount, reach, trained, version },
    text: options.text,
    note: term.note,
  };
  const trace = await refusing(() => journey(request)).finally(() => reach.close());
  if (options.out !== undefined) {
    writeFileSync(join(options.out, 'journey.json'), `${JSON.stringify(trace)}\n`);
    writeFileSync(join(options.out, 'journey.html'), journeyHtml(trace));
    if (trained !== null) await drawCharts(trainingCharts, trained.part, options.out);
  }
  term.answer(options.json ? JSON.stringify(trace, null, 2) : terminalJourney(trace, options.out ?? null));
}

function settings(
  path: string | undefined,
  options: JourneyOptions,
): { readonly shape: ModelShape; readonly seed: number; readonly rankCount: number } {
  if (path === undefined) {
    if (options.set.length > 0) throw new UsageError('--set: there is no scenario to override; name one');
    return { shape: modelPresets['kimi-k3-mini'], seed: options.seed ?? 7, rankCount: 8 };
  }
  const set = [...options.set, ...(options.seed === undefined ? [] : [`seed=${options.seed}`])];
  const { model, seed, cluster } = loadScenario(path, set);
  return { shape: model, seed, rankCount: cluster.rankCount };
}

/** Tables of Kimi K3 at full size as Markdown, and their charts with --out. */
async function showScale(path: string | undefined, options: JourneyOptions, term: Terminal): Promise<void> {
  if (path !== undefined) throw new UsageError(`${path}: --scale takes no scenario: it runs nothing`);
  const scale = fullScale();
  if (options.out !== undefined) {
    makeFolder(options.out);
    writeFileSync(join(options.out, 'scale.json'), `${JSON.stringify(scale, null, 2)}\n`);
    await drawCharts(scaleCharts, scale, options.out);
  }
  const tables = [mechanismsMarkdown(scale), contextMarkdown(scale), ledgerMarkdown(scale.ledger)];
  term.answer(options.json ? JSON.stringify(scale, null, 2) : tables.join('\n\n'));
}

async function train(
  shape: ModelShape,
  seed: number,
  { steps, sequences }: JourneyOptions,
  term: Terminal,
): Promise<Trained> {
  const { signal, release } = interruptSignal(term.note);
  const progress = term.progress(trainingSteps(steps), 'steps');
  let done = 0;
  try {
    return await trainForms(shape, seed, steps, sequences, signal, (run) => progress.advance(++done, run));
  } finally {
    progress.stop();
    release();
  }
}

/** The shards that carry: here, on threads, or in the workers of a cluster. */
async function openReach(
  options: JourneyOptions,
  rankCount: number,
  term: Terminal,
): Promise<{ readonly reach: ShardPool | ShardFabric; readonly shardCount: () => number }> {
  const transport = options.transport ?? (options.redis === undefined ? 'inline' : 'redis');
  if (transport === 'inline') return { reach: inlineShards(createShardHandler()), shardCount: () => 1 };
  if (transport === 'thread') {
    const workers = Math.min(options.workers ?? 2, rankCount);
    return {
      reach: threadShards({ entry: shardEntry, workers, timeoutMs: PHASE_LIMIT_MS }),
      shardCount: () => workers,
    };
  }
  const url = await redisUrl(options.redis, term.note);
  const { coordinate, shardsFor } = await import('@epsim/cluster');
  const limits = { patienceMs: options.patience * 1000, phaseMs: PHASE_LIMIT_MS };
  const reach = await coordinate({ url, name: 'journey', version, ...limits, note: term.note });
  return { reach, shardCount: () => shardsFor(reach, rankCount, options.workers) };
}

/** What `make` gives, with what the user got wrong as one line. */
async function refusing<T>(make: () => T | Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (thrown) {
    if (thrown instanceof RangeError) throw new UsageError(`journey: ${thrown.message}`);
    throw thrown;
  }
}
