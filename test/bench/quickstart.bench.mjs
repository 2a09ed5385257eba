// The quickstart as a user runs it, in a process of its own: Kimi K3 on 8 ranks, carried, checked, drawn.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
// Printed when the process ends: what it used, threads included.
const usage = `import { isMainThread } from 'node:worker_threads';
if (isMainThread) process.on('exit', () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  console.error('usage ' + JSON.stringify({ maxRssKb: maxRSS, cpuMs: (userCPUTime + systemCPUTime) / 1000 }));
});`;
let most = 0;

function quickstart() {
  const out = mkdtempSync(join(tmpdir(), 'epsim-bench-'));
  const { status, stderr } = spawnSync(
    process.execPath,
    [
      ...['--import', `data:text/javascript,${encodeURIComponent(usage)}`],
      ...[join(root, 'packages/cli/bin/epsim.mjs'), 'run', join(root, 'scenarios/k3-quickstart.yaml')],
      ...['--out', join(out, 'run'), '--quiet', '--json'],
    ],
    { encoding: 'utf8' },
  );
  rmSync(out, { recursive: true });
  const [, told] = /^usage (.*)$/m.exec(stderr) ?? [];
  if (status !== 0 || told === undefined) throw new Error(`the quickstart failed: ${stderr}`);
  const { maxRssKb, cpuMs } = JSON.parse(told);
  most = Math.max(most, maxRssKb * 1024);
  return { cpuMs };
}

export const benchmarks = [
  {
    name: 'quickstart',
    subject: { name: 'scenarios/k3-quickstart.yaml from start to run folder', work: quickstart },
    runs: 1,
    warm: false,
    note: () => `peak memory ${(most / 1e9).toFixed(2)} GB; 30 s and 3 GB are allowed`,
  },
];
