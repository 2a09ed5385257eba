// The whole check: set-up, lint, then every test. `node scripts/test.mjs PATTERN` runs the tests that match.
// Ends with "N passed, N failed, N skipped" and exits 1 unless all that ran passed.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
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

if (run([join(root, 'scripts/bootstrap.mjs')]) !== 0) finish(0, 1, 0, 'set-up or types failed');
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
