import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { emptyFolder, root } from '../support/epsim.js';

const python = process.env.EPSIM_PYTHON ?? 'python3';
const found = spawnSync(python, ['-c', 'import torch'], { encoding: 'utf8' });
const why = found.error?.message ?? (found.stderr.trim().split('\n').at(-1) || `exit code ${found.status}`);
const without = found.status === 0 ? '' : ` (not run: ${why}; name a Python with torch in EPSIM_PYTHON)`;
if (without !== '') console.warn(`the blocks are not compared with PyTorch${without}`);

describe.skipIf(without !== '')(`the blocks beside PyTorch${without}`, () => {
  const dir = emptyFolder();
  afterAll(() => rmSync(dir, { recursive: true }));
  const compare = () => spawnSync(python, ['test/peers/compare.py', dir], { cwd: root, encoding: 'utf8' });

  test('every block agrees with another form of it in double precision, on several seeds', () => {
    for (const seed of ['1', '2', '3']) {
      const made = spawnSync(process.execPath, ['test/peers/export.mjs', dir, seed], { cwd: root });
      expect(made.status).toBe(0);
      const { stdout, stderr, status } = compare();
      expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
      expect(stdout).toMatch(/worst \d\.\de-\d+, tolerance 1e-06/);
    }
  }, 120_000);

  test('an output that is off by a hundred-thousandth is found', () => {
    const file = join(dir, 'blocks.json');
    const blocks = JSON.parse(readFileSync(file, 'utf8'));
    blocks.kda.outputs.output[3] += 1e-5 * Math.max(...blocks.kda.outputs.output.map(Math.abs));
    writeFileSync(file, JSON.stringify(blocks));
    expect(compare().status).toBe(1);
  }, 60_000);
});
