/**
 * Scenarios from disk. Paths inside a scenario count from the scenario's own folder and may not leave it;
 * paths that the user names on the command line count from where the user stands and may lead anywhere.
 */
import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { catalog } from '@epsim/engine';
import { parseScenario, type Scenario } from '@epsim/spec';
import { UsageError } from './failure.js';

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EISDIR: 'is a folder',
  EACCES: 'permission denied',
  ENOTDIR: 'a part of the path is a file',
};

/** Reads a file as bytes, or throws a UsageError that says why it cannot be read. */
export function readBytes(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    const why = reasons[code ?? ''] ?? String(code);
    throw new UsageError(`${path}: cannot read: ${why}; check the path`);
  }
}

export function readText(path: string): string {
  return new TextDecoder().decode(readBytes(path));
}

/** What publishers put beside a config.json; whoever names the one may read the other. */
const SIDECAR = 'hf_quant_config.json';

/** Paths that overrides `PATH=VALUE` name, and what may stand beside them. */
function namedPaths(set: readonly string[]): ReadonlySet<string> {
  const named = set.flatMap((override) => pathsIn(override.slice(override.indexOf('=') + 1)));
  const files = named.filter((path) => /[/\\]|\.json$/i.test(path));
  return new Set([...named, ...files.map((path) => join(dirname(path), SIDECAR))]);
}

/**
 * A reader of the files that a scenario and its overrides name. A path that the user did not name on the command line
 * counts from the scenario's folder and may not leave it; `at`, the field that holds it, is named in the repair.
 */
export function readerBeside(
  scenarioPath: string,
  set: readonly string[],
): (path: string, at?: string) => Uint8Array {
  const folder = dirname(resolve(scenarioPath));
  const named = namedPaths(set);
  return (path, at = 'FIELD') => {
    if (named.has(path)) return readBytes(path);
    const full = resolve(folder, path);
    const inside = relative(folder, full);
    if (isAbsolute(inside) || inside.startsWith('..')) {
      throw new UsageError(
        `${path}: a path in a scenario may not leave the scenario's folder, ${dirname(scenarioPath)}; move the file there, or name it on the command line: --set ${at}=${path}`,
      );
    }
    return readBytes(full);
  };
}

/** What an override's value may name: itself, the entries of a list, the values of fields, without quotes. */
function pathsIn(value: string): string[] {
  const bare = (text: string) => text.trim().replace(/^(["'])(.*)\1$/, '$2');
  const inner = /^\s*[[{](.*)[\]}]\s*$/.exec(value)?.[1];
  return [bare(value), ...(inner?.split(',').map((entry) => bare(entry.replace(/^\s*[\w-]+:\s/, ''))) ?? [])];
}

/**
 * The scenario in `path` with `--set` overrides applied, then those of a point of its own `vary`.
 * Throws UserError with every problem at once.
 */
export function loadScenario(path: string, set: readonly string[], point: readonly string[] = []): Scenario {
  const read = readerBeside(path, set);
  return parseScenario(readText(path), {
    file: path,
    catalog,
    ...{ set, point },
    readFile: (inner, at) => new TextDecoder().decode(read(inner, at)),
  });
}
