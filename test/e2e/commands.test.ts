import { appendFileSync, copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { emptyFolder, epsim, root } from '../support/epsim.js';

const small = join(root, 'test/e2e/small.yaml');
const write = (name: string, content: string | Uint8Array) => {
  const file = join(emptyFolder(), name);
  writeFileSync(file, content);
  return file;
};

describe('epsim place', () => {
  const published = [
    [90, 132, 40, 61, 104, 165, 39, 4, 73, 56, 183, 86],
    [20, 107, 104, 64, 19, 197, 187, 157, 172, 86, 16, 27],
  ];

  test('prints the published hierarchical example of EPLB', () => {
    const args = [
      '--policy',
      'eplb',
      '--slots',
      '16',
      '--groups',
      '4',
      '--nodes',
      '2',
      '--ranks',
      '8',
      '--json',
    ];
    const { status, stdout } = epsim([
      'place',
      write('w.json', JSON.stringify({ weight: published })),
      ...args,
    ]);
    expect(status).toBe(0);
    const placed = JSON.parse(stdout);
    expect(placed.physicalToLogical).toEqual([
      [5, 6, 5, 7, 8, 4, 3, 4, 10, 9, 10, 2, 0, 1, 11, 1],
      [7, 10, 6, 8, 6, 11, 8, 9, 2, 4, 5, 1, 5, 0, 3, 1],
    ]);
    expect(placed.logicalCount[0]).toEqual([1, 2, 1, 1, 2, 2, 1, 1, 1, 1, 2, 1]);
    expect(placed.balancedness[0]).toBeCloseTo(0.827724, 6);
    expect(placed.duplicatesOnRank).toBe(0);
  });

  test('all tokens on one expert: EPLB leaves 0.625 with a duplicate, distinct replicas reach 1', () => {
    const loads = write('g9.json', '[[1000,0,0,0,0,0,0,0]]');
    const at = (...args: string[]) =>
      JSON.parse(epsim(['place', loads, '--ranks', '4', '--json', ...args]).stdout);
    expect(at('--slots', '8', '--policy', 'contiguous').balancedness).toEqual([0.25]);
    expect(at('--slots', '12', '--policy', 'eplb')).toMatchObject({
      balancedness: [0.625],
      duplicatesOnRank: 1,
    });
    expect(at('--slots', '12', '--policy', 'eplb-distinct')).toMatchObject({
      balancedness: [1],
      duplicatesOnRank: 0,
    });
    const idle = write('idle.json', '[[0,0,0,0]]');
    expect(JSON.parse(epsim(['place', idle, '--ranks', '2', '--json']).stdout).balancedness).toEqual([1]);
  });

  test.each([
    [
      'too few slots, with the least that are enough',
      '[[1,2,3,4,5,6,7,8]]',
      ['--ranks', '4', '--slots', '6'],
      /6 < 8 experts; use 2 or more per rank/,
    ],
    ['ragged loads', '[[1,2],[3]]', ['--ranks', '2'], /loads\.json/],
    ['a negative load', '[[1,-2]]', ['--ranks', '2'], /loads\.json.*-2/],
    ['text that is no table', 'hello', ['--ranks', '2'], /loads\.json/],
  ])('refuses %s', (_, text, args, message) => {
    const outcome = epsim(['place', write('loads.json', text), ...args]);
    expect(outcome.stderr).toMatch(message);
    expect(outcome).toMatchObject({ status: 2, stdout: '' });
  });

  test('writes what engines load', () => {
    const loads = write('w.json', JSON.stringify(published));
    const sglang = epsim([
      'place',
      loads,
      '--ranks',
      '8',
      '--slots',
      '16',
      '--format',
      'sglang',
      '--first-layer',
      '1',
    ]);
    expect(JSON.parse(sglang.stdout).physical_to_logical_map).toHaveLength(3);
    const trtllm = epsim(['place', loads, '--ranks', '8', '--slots', '16', '--format', 'trtllm']);
    expect(trtllm.stdout).toMatch(/^num_slots: 16\n/);
  });
});

describe('epsim import', () => {
  test('turns a per-expert CSV into a trace that a scenario runs on', () => {
    const rows = Array.from({ length: 64 }, (_, i) => `${Math.floor(i / 32)},${i % 32},${1 + (i % 32)}`);
    const csv = write('counts_0.csv', `layer_id,expert_id,count\n${rows.join('\n')}\n`);
    const folder = emptyFolder();
    const trace = join(folder, 'small.epsim-trace');
    const imported = epsim([
      'import',
      csv,
      '--format',
      'sglang-csv',
      '-o',
      trace,
      '--model',
      'small-model',
      '--json',
    ]);
    expect(imported.stderr).toBe('');
    expect(JSON.parse(imported.stdout)).toMatchObject({
      kind: 'loads',
      model: 'small-model',
      expertCount: 32,
      layers: 2,
    });
    const run = epsim([
      'run',
      small,
      '--time-only',
      '--json',
      '--out',
      join(folder, 'run'),
      '--set',
      'workload={ trace: small.epsim-trace, tokensPerRank: 12 }',
      '--set',
      `workload.file=${trace}`,
    ]);
    expect(run.stderr).toBe('');
    expect(JSON.parse(run.stdout).notes.join(' ')).toContain('sglang-csv');
  });

  test('names the file and the place of what is wrong', () => {
    const csv = write('counts_0.csv', 'layer_id,expert_id,count\n0,0,5\n0,x,5\n');
    const outcome = epsim(['import', csv, '--format', 'sglang-csv', '-o', join(emptyFolder(), 't')]);
    expect(outcome.status).toBe(2);
    expect(outcome.stderr).toMatch(/counts_0\.csv.*3/);
  });
});

describe('epsim compare', () => {
  test('gives paired differences with intervals, and pictures', () => {
    const out = join(emptyFolder(), 'cmp');
    const args = [
      'compare',
      small,
      '--vary',
      'routing.policy=top-k,quantile',
      '--seeds',
      '3',
      '--json',
      '--out',
      out,
    ];
    const { status, stdout } = epsim(args);
    expect(status).toBe(0);
    const comparison = JSON.parse(stdout);
    expect(comparison.rows.map((row: { values: unknown }) => row.values)).toEqual([
      { 'routing.policy': 'top-k' },
      { 'routing.policy': 'quantile' },
    ]);
    const [difference] = comparison.pairedDifferences;
    const path = 'load.lastStep.maxVio';
    expect(difference.means[path]).toBeCloseTo(
      comparison.rows[1].means[path] - comparison.rows[0].means[path],
      9,
    );
    expect(difference.means[path]).toBeLessThan(0);
    expect(difference.ci95[path]).toHaveLength(2);
    for (const file of ['comparison.json', 'comparison.html', 'compare-maxvio.png']) {
      expect(existsSync(join(out, file)), file).toBe(true);
    }
  });

  test.each([
    ['no variation', [], /small\.yaml: nothing varies/],
    ['a path without values', ['--vary', 'routing.policy'], /write PATH=V1,V2/],
    ['the same value twice', ['--vary', 'steps=2,2'], /2 stands there twice/],
    ['seeds that differ between rows', ['--vary', 'seed=1,2'], /all rows share their seeds/],
    ['an unknown value', ['--vary', 'routing.policy=top-k,topp'], /unknown routing policy: topp/],
  ])('refuses %s', (_, args, message) => {
    const outcome = epsim(['compare', small, ...args]);
    expect(outcome.stderr).toMatch(message);
    expect(outcome).toMatchObject({ status: 2, stdout: '' });
  });
});

describe('a scenario that says what it varies', () => {
  const varied = (vary: string) => {
    const file = write('varied.yaml', `${readFileSync(small, 'utf8')}vary: ${vary}\n`);
    copyFileSync(join(root, 'test/e2e/small-model.json'), join(file, '../small-model.json'));
    return file;
  };
  const fast = ['--seeds', '1', '--json'];
  const valuesOf = (stdout: string) => JSON.parse(stdout).rows.map((row: { values: unknown }) => row.values);

  test('is compared as it stands, and --vary asks for something else', () => {
    const file = varied('{ routing.policy: [top-k, quantile], steps: [1, 2] }');
    const own = epsim(['compare', file, ...fast]);
    expect(valuesOf(own.stdout)).toEqual(
      ['top-k', 'quantile'].flatMap((policy) =>
        ['1', '2'].map((steps) => ({ 'routing.policy': policy, steps })),
      ),
    );
    expect(valuesOf(epsim(['compare', file, '--vary', 'steps=1', ...fast]).stdout)).toEqual([{ steps: '1' }]);
    const sweep = epsim(['sweep', file, '--set', 'vary={ steps: [1] }', '--out', emptyFolder(), '--json']);
    expect(valuesOf(sweep.stdout)).toEqual([{ steps: '1' }]);
  });

  test('is refused with the line of what is wrong in it, by every command that reads it', () => {
    const file = varied('{ routing.policy: [top-k, topp] }');
    for (const command of ['compare', 'sweep', 'check']) {
      const { status, stderr, stdout } = epsim([command, file]);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).toMatch(
        /varied\.yaml:\d+: routing\.policy: unknown routing policy: topp; .*known: top-k/,
      );
    }
  });
});

describe('epsim sweep', () => {
  const sweep = (out: string, ranks: string) =>
    epsim([
      'sweep',
      small,
      '--vary',
      `cluster.ranks=${ranks}`,
      '--vary',
      'steps=1,2',
      '--out',
      out,
      '--json',
    ]);

  test('does only what is missing when it is started again, also after a crash in the middle of a line', () => {
    const out = join(emptyFolder(), 'sweep');
    const first = sweep(out, '2');
    expect(first.status).toBe(0);
    const file = join(out, 'points.jsonl');
    const before = readFileSync(file, 'utf8');
    appendFileSync(file, '{"key":"half a li');
    const second = sweep(out, '2,4');
    expect(second.status).toBe(0);
    const after = readFileSync(file, 'utf8');
    expect(after.startsWith(before)).toBe(true);
    expect(after.trim().split('\n')).toHaveLength(4);
    const rows = JSON.parse(second.stdout).rows;
    expect(rows.map((row: { values: unknown }) => row.values)).toEqual([
      { 'cluster.ranks': '2', steps: '1' },
      { 'cluster.ranks': '2', steps: '2' },
      { 'cluster.ranks': '4', steps: '1' },
      { 'cluster.ranks': '4', steps: '2' },
    ]);
    expect(rows.slice(0, 2)).toEqual(JSON.parse(first.stdout).rows);
  });
});

describe('where results cannot be written', () => {
  test.each([
    ['a file', (folder: string) => join(folder, 'file')],
    ['below a file', (folder: string) => join(folder, 'file/run')],
    ['where the system makes no folders', () => '/proc/epsim'],
    ['nowhere', () => ''],
  ])('run says so at once: %s', (_, dirOf) => {
    const folder = emptyFolder();
    writeFileSync(join(folder, 'file'), '');
    const outcome = epsim(['run', small, '--time-only', '--out', dirOf(folder)]);
    expect(outcome).toMatchObject({ status: 2, stdout: '' });
    expect(outcome.stderr).not.toMatch(/\bat .*\.js:\d+/);
    expect(outcome.stderr).toMatch(/name/);
  });

  test('import and sweep say so too', () => {
    const csv = write('counts_0.csv', 'layer_id,expert_id,count\n0,0,5\n0,1,5\n');
    const folder = emptyFolder();
    expect(epsim(['import', csv, '--format', 'sglang-csv', '-o', folder])).toMatchObject({
      status: 2,
      stdout: '',
    });
    writeFileSync(join(folder, 'file'), '');
    const sweep = epsim(['sweep', small, '--vary', 'steps=1,2', '--out', join(folder, 'file')]);
    expect(sweep).toMatchObject({ status: 2, stdout: '' });
  });

  test('plan and journey say so before they work, also where the system makes no folders', () => {
    for (const args of [
      ['plan', join(root, 'scenarios/k3-plan.yaml')],
      ['journey'],
      ['journey', '--scale'],
    ]) {
      const outcome = epsim([...args, '--out', '/proc/epsim/results']);
      expect(outcome).toMatchObject({ status: 2, stdout: '' });
      expect(outcome.stderr).toMatch(/^\/proc\/epsim\/results: cannot make the folder [^\n]*\n$/);
    }
  });
});
