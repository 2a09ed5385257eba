// The whole check: set-up, lint, then every test. `node scripts/test.mjs PATTERN` runs the tests that match.
// Ends with "N passed, N failed, N skipped" and exits 1 unless all that ran passed.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const run = (args) =>
  spawnSync(process.execPath, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] }).status;
const bin = (path) => join(root, 'node_modules', path);
const results = join(root, 'node_modules/.cache/test-results.json');

function finish(passed, failed, skipped, why) {
  mkdirSync(dirname(results), { recursive: true });
  writeFileSync(join(dirname(results), 'test-counts.json'), JSON.stringify({ passed, failed, skipped }));
  if (why) console.log(why);
  console.log(`${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`);
  process.exit(failed === 0 && passed > 0 ? 0 : 1);
}

/** Why there is no Redis server for its tests, or null when there is one; installs it where that is ours to do. */
function whyNoRedis() {
  const there = () =>
    ['redis-server', 'valkey-server'].some((name) => spawnSync(name, ['--version']).status === 0);
  if (there()) return null;
  if (!existsSync('/etc/debian_version')) return 'install redis-server or valkey-server to run them';
  if (process.getuid() !== 0) return 'install it to run them: sudo apt-get install redis-server';
  console.error('set-up: installing redis-server, once');
  // What the package starts by itself would be a second server that no test uses.
  const options = {
    stdio: 'ignore',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
  };
  const install = () => spawnSync('apt-get', ['install', '-y', 'redis-server'], options);
  if (install().status !== 0 && spawnSync('apt-get', ['update'], options).status === 0) install();
  return there() ? null : '"apt-get install -y redis-server" failed';
}

if (run([join(root, 'scripts/bootstrap.mjs')]) !== 0) finish(0, 1, 0, 'set-up or types failed');
const noRedis = whyNoRedis();
if (noRedis !== null) {
  console.log(`tests of Redis are not run: ${noRedis}`);
  if (process.env.CI) finish(0, 1, 0, 'a Redis server is needed here');
}
if (run([bin('@biomejs/biome/bin/biome'), 'check', '.']) !== 0) finish(0, 1, 0, 'lint failed');
run([
  bin('vitest/vitest.mjs'),
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${results}`,
  ...process.argv.slice(2),
]);
const report = JSON.parse(readFileSync(results, 'utf8'));
const broken = report.testResults.filter(
  (file) => file.status === 'failed' && file.assertionResults.length === 0,
);
for (const file of report.testResults) {
  for (const test of file.assertionResults) {
    if (test.status === 'pending' || test.status === 'skipped') console.log(`not run: ${test.fullName}`);
  }
}
finish(report.numPassedTests, report.numFailedTests + broken.length, report.numPendingTests);
