import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { emptyFolder, entry, root } from '../support/epsim.js';

test('Ctrl-C keeps the finished steps, says so and exits with 130', async () => {
  const dir = join(emptyFolder(), 'run');
  const args = [
    entry,
    'run',
    join(root, 'test/e2e/small.yaml'),
    '--out',
    dir,
    '--time-only',
    '--set',
    'steps=100000',
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
  const records = join(dir, 'records.jsonl');
  for (let waited = 0; waited < 30_000; waited += 50) {
    if (existsSync(records) && readFileSync(records, 'utf8').split('\n').length > 20) break;
    await sleep(50);
  }
  child.kill('SIGINT');
  expect(await ended).toBe(130);
  expect(stderr).toMatch(/interrupted: \d+ of 100000 steps are finished and kept in .*run/);
  const summary = JSON.parse(readFileSync(join(dir, 'summary.json'), 'utf8'));
  expect(summary.complete).toBe(false);
  expect(summary.steps.finished).toBeGreaterThanOrEqual(9);
  expect(existsSync(join(dir, 'report.html'))).toBe(true);
});
