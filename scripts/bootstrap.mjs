// Makes the clone ready to run: the pinned pnpm installs what the lockfile says, then the compiler builds.
// Both are skipped when nothing has changed, so a second call needs no network and under a second.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const quiet = process.argv.includes('--quiet');
const say = (text) => quiet || console.error(`set-up: ${text}`);

/** Runs a command and shows what it printed only when it fails. */
function run(what, help, command, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    ...options,
  });
  if (status === 0) return;
  console.error(`${stdout ?? ''}${stderr ?? ''}${error ?? ''}`);
  console.error(`set-up: ${what} failed; ${help}`);
  process.exit(1);
}

const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const key = createHash('sha256')
  .update(readFileSync(join(root, 'pnpm-lock.yaml')))
  .update([packageManager, process.version, process.platform, process.arch].join())
  .digest('hex');
const stamp = join(root, 'node_modules/.installed-lock');
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== key) {
  say('installing packages, once');
  const pnpm = ['exec', '--yes', `--package=${packageManager}`, '--', 'pnpm', 'install', '--frozen-lockfile'];
  const help = 'it needs the npm registry once; check the network and run it again';
  run('install', help, 'npm', pnpm, { shell: process.platform === 'win32' });
  writeFileSync(stamp, key);
}
const tsc = join(root, 'node_modules/typescript/bin/tsc');
run('build', 'the lines above say where; a clean clone builds', process.execPath, [tsc, '-b']);
