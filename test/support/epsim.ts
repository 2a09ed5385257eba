/** Runs the command line as a user does, in a folder of its own. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const entry = join(root, 'packages/cli/bin/epsim.mjs');

export interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function epsim(args: readonly string[], cwd: string = root): Outcome {
  const { status, stdout, stderr } = spawnSync(process.execPath, [entry, ...args], {
    cwd,
    encoding: 'utf8',
    timeout: 120_000,
    maxBuffer: 64 * 2 ** 20,
  });
  return { status, stdout, stderr };
}

export function emptyFolder(): string {
  return mkdtempSync(join(tmpdir(), 'epsim-test-'));
}
