import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { placementTableSchema } from '@epsim/placement';
import { validationSchema } from '@epsim/results';
import { expect, test } from 'vitest';
import { emptyFolder, epsim } from '../support/epsim.js';

test('what place prints is what its schema says, with a placement in use and without', () => {
  const folder = emptyFolder();
  const write = (name: string, value: unknown) => writeFileSync(join(folder, name), JSON.stringify(value));
  write('loads.json', [
    [90, 10, 20, 30, 5, 5, 1, 1],
    [1, 1, 1, 1, 1, 1, 1, 1],
  ]);
  const place = (...more: readonly string[]) => {
    const { status, stdout } = epsim(
      ['place', 'loads.json', '--ranks', '4', '--slots', '12', '--json', ...more],
      folder,
    );
    expect(status).toBe(0);
    return placementTableSchema.parse(JSON.parse(stdout));
  };
  const first = place();
  expect(first.moves).toBe(undefined);
  write('used.json', first);
  expect(place('--previous', 'used.json', '--policy', 'contiguous').moves).toHaveLength(2);
});

test('what validate prints is what its schema says', () => {
  const { status, stdout } = epsim(['validate', '--leave-out', 'none', '--json']);
  expect(status).toBe(0);
  expect(validationSchema.parse(JSON.parse(stdout)).tables.length).toBeGreaterThan(3);
});
