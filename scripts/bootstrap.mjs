// Makes the clone ready to run: the pinned pnpm installs what the lockfile says, then the compiler builds.
// Both are skipped when nothing has changed, so a second call needs no network and under a second.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const quiet = process.argv.includes('--quiet');

function run(what, command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: root, stdio: ['ignore', quiet ? 'ignore' : 2, 2], ...options });
  if (result.status !== 0) {
    console.error(`set-up: ${what} failed; run "npm start" again with a network, or see CONTRIBUTING.md`);
    process.exit(1);
  }
}

const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const key = createHash('sha256')
  .update(readFileSync(join(root, 'pnpm-lock.yaml')))
  .update([packageManager, process.version, process.platform, process.arch].join())
  .digest('hex');
const stamp = join(root, 'node_modules/.installed-lock');
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== key) {
  const pnpm = ['exec', '--yes', `--package=${packageManager}`, '--', 'pnpm'];
  run('install', 'npm', [...pnpm, 'install', '--frozen-lockfile'], { shell: process.platform === 'win32' });
  writeFileSync(stamp, key);
}
run('build', process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-b']);
