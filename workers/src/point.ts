/** Runs one point of a sweep on a thread: a resolved scenario and its files in, its summary and records out. */
import { catalog, type Measured, measure } from '@epsim/engine';
import { parseScenario } from '@epsim/spec';
import type { ShardCall } from '@epsim/transport';

export interface PointWork {
  /** The scenario as resolved, with every default spelled out. */
  readonly scenario: string;
  /** Files that it names, by the names that it uses. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly version: string;
}

async function run(call: ShardCall): Promise<Measured> {
  const { scenario, files, version } = call.args as PointWork;
  const readFile = (path: string) => {
    const bytes = files.get(path);
    if (bytes === undefined) throw new RangeError(`${path}: not sent with the point`);
    return bytes;
  };
  const parsed = parseScenario(scenario, {
    file: 'point',
    catalog,
    set: [],
    readFile: (path) => new TextDecoder().decode(readFile(path)),
  });
  return measure(parsed, { readFile, version });
}

// The pool that starts this thread takes a module's default export.
export default run;
