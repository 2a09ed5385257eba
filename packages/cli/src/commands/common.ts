/** Options that commands share. */
import { type Command, InvalidArgumentError } from 'commander';

export interface OutputOptions {
  readonly json?: boolean;
  readonly quiet?: boolean;
}

export function withOutput(command: Command): Command {
  return command
    .option('--json', 'one JSON document on standard output')
    .option('--quiet', 'nothing beside the answer: no progress, no warnings');
}

export function withSet(command: Command): Command {
  return command.option('--set <path=value>', 'override a field of the scenario (repeatable)', collect, []);
}

export function withVary(command: Command): Command {
  const help = "a field and its values (repeatable; default: the scenario's own `vary`)";
  return command.option('--vary <path=v1,v2>', help, collect, []);
}

/** How points of a sweep or comparison reach a cluster. */
export interface ClusterOptions {
  readonly redis?: string;
  readonly patience: number;
  readonly pointLimit: number;
}

export function withCluster(command: Command): Command {
  return command
    .option('--redis <url>', 'measure points on the workers of the cluster at this Redis')
    .option('--patience <seconds>', 'longest wait for Redis or for a worker to be there', integer(1), 60)
    .option('--point-limit <seconds>', 'longest time for one point over --redis', integer(1), 3600);
}

export function collect(value: string, previous: readonly string[]): string[] {
  return [...previous, value];
}

/** A whole number of at least `least` and at most `most`. */
export function integer(least: number, most = 1_000_000): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < least || value > most) {
      throw new InvalidArgumentError(`expected a whole number from ${least} to ${most}.`);
    }
    return value;
  };
}

/** An AbortSignal that Ctrl-C raises; a second Ctrl-C ends the process at once. */
export function interruptSignal(note: (text: string) => void): { signal: AbortSignal; release: () => void } {
  const abort = new AbortController();
  const onInterrupt = () => {
    if (abort.signal.aborted) {
      note('stopped; what was finished before is kept');
      process.exit(130);
    }
    note('stopping after the layer in hand; press Ctrl-C again to stop at once');
    abort.abort();
  };
  process.on('SIGINT', onInterrupt);
  process.on('SIGTERM', onInterrupt);
  return {
    signal: abort.signal,
    release: () => {
      process.off('SIGINT', onInterrupt);
      process.off('SIGTERM', onInterrupt);
    },
  };
}
