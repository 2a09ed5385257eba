import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../support/epsim.js';

test('what documents repeat from code is what the code says', () => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/docs.mjs', '--check'], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(status).toBe(0);
});

test('every scenario stands in the list of scenarios, and every entry of the list exists', () => {
  const listed = [
    ...readFileSync(join(root, 'scenarios/README.md'), 'utf8').matchAll(/^\| ([\w.-]+\.yaml) \|/gm),
  ];
  const files = readdirSync(join(root, 'scenarios')).filter((file) => file.endsWith('.yaml'));
  expect(listed.map(([, file]) => file).sort()).toEqual(files.sort());
});
