import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { emptyFolder, epsim, root } from '../support/epsim.js';

const small = join(root, 'test/e2e/small.yaml');

describe('epsim run', () => {
  test('writes a run folder whose carried half was checked and whose summary is on standard output', () => {
    const dir = join(emptyFolder(), 'run');
    const { status, stdout, stderr } = epsim(['run', small, '--out', dir, '--json']);
    expect(stderr).toBe('');
    expect(status).toBe(0);
    const summary = JSON.parse(stdout);
    expect(summary).toEqual(JSON.parse(readFileSync(join(dir, 'summary.json'), 'utf8')));
    expect(summary.carried).toMatchObject({ checked: true, transport: 'thread', workers: 2, tokens: 32 });
    expect(summary.carried.maxRelError).toBeLessThan(1e-5);
    expect(summary.baseline.policy).toBe('top-k');
    expect(readdirSync(dir).sort()).toEqual(
      expect.arrayContaining([
        'expert-load.csv',
        'expert-load.png',
        'link-use.csv',
        'maxvio-steps.png',
        'phases.png',
        'rank-load.png',
        'rank-traffic.csv',
        'rank-traffic.png',
        'records.jsonl',
        'report.html',
        'scenario.resolved.yaml',
        'summary.json',
        'timings.json',
        'trace.json',
      ]),
    );
  });

  test('writes the same bytes whatever carries and however many workers, wall-clock figures aside', () => {
    const folder = emptyFolder();
    const runs = [
      ['--transport', 'inline'],
      ['--transport', 'thread', '--workers', '1'],
      ['--transport', 'thread', '--workers', '4'],
    ].map((args, i) => {
      const dir = join(folder, String(i));
      expect(epsim(['run', small, '--out', dir, '--quiet', ...args]).status).toBe(0);
      return dir;
    });
    const files = readdirSync(runs[0]).filter((file) => file !== 'timings.json');
    for (const dir of runs.slice(1)) {
      for (const file of files) {
        expect(
          readFileSync(join(dir, file)).equals(readFileSync(join(runs[0], file))),
          `${dir}/${file}`,
        ).toBe(true);
      }
    }
  });

  test('can be run again from its own resolved scenario, to the same summary', () => {
    const folder = emptyFolder();
    expect(epsim(['run', small, '--out', join(folder, 'a')]).status).toBe(0);
    const again = epsim(['run', join(folder, 'a/scenario.resolved.yaml'), '--out', join(folder, 'b')]);
    expect(again.stderr).toBe('');
    expect(readFileSync(join(folder, 'b/summary.json'), 'utf8')).toBe(
      readFileSync(join(folder, 'a/summary.json'), 'utf8'),
    );
  });

  test('does not overwrite a run unless it is told to', () => {
    const dir = join(emptyFolder(), 'run');
    expect(epsim(['run', small, '--out', dir, '--time-only']).status).toBe(0);
    const before = readFileSync(join(dir, 'summary.json'));
    const second = epsim(['run', small, '--out', dir, '--time-only', '--seed', '9']);
    expect(second.status).toBe(2);
    expect(second.stderr).toMatch(/a run is already there/);
    expect(readFileSync(join(dir, 'summary.json')).equals(before)).toBe(true);
    expect(epsim(['run', small, '--out', dir, '--time-only', '--seed', '9', '--force']).status).toBe(0);
    expect(JSON.parse(readFileSync(join(dir, 'summary.json'), 'utf8')).seed).toBe(9);
  });

  test('leaves out times or carrying when asked, and refuses to leave out both', () => {
    const folder = emptyFolder();
    const timeless = JSON.parse(
      epsim(['run', small, '--out', join(folder, 'a'), '--carry-only', '--json']).stdout,
    );
    expect(timeless.timed).toBeNull();
    expect(timeless.carried.checked).toBe(true);
    const unchecked = [
      'run',
      small,
      '--out',
      join(folder, 'c'),
      '--carry-only',
      '--set',
      'carry.checkSteps=0',
    ];
    expect(epsim(unchecked).stdout).toMatch(/^carried .*, not checked/m);
    const uncarried = JSON.parse(
      epsim(['run', small, '--out', join(folder, 'b'), '--time-only', '--json']).stdout,
    );
    expect(uncarried.carried.transport).toBeNull();
    expect(uncarried.timed.stepNs).toBeGreaterThan(0);
    const nothing = epsim(['run', small, '--carry-only', '--time-only']);
    expect(nothing).toMatchObject({ status: 2, stdout: '' });
    expect(nothing.stderr).toContain('--time-only and --carry-only');
  });
});

describe('wrong input ends with code 2, one clear message and nothing on standard output', () => {
  const write = (text: string) => {
    const file = join(emptyFolder(), 'bad.yaml');
    writeFileSync(file, text);
    return file;
  };
  test.each([
    ['no such command', ['rnu'], /unknown command 'rnu'/],
    ['no such option', ['run', small, '--fast'], /unknown option '--fast'/],
    ['no such file', ['run', 'nowhere.yaml'], /nowhere\.yaml: cannot read: no such file/],
    ['a folder', ['check', root], /is a folder/],
    ['a worker count of nothing', ['run', small, '--workers', '0'], /whole number from 1 to 256/],
    [
      'tables for throughputs',
      ['validate', '--end-to-end', '--measurements', root],
      /--end-to-end and --measurements: .*no table states.*Give one of the two/,
    ],
    ['a run folder that is none', ['report', root], /name a folder that "epsim run" wrote/],
    [
      'a misspelt field on the command line',
      ['check', small, '--set', 'routing.polcy=top-k'],
      /--set.*polcy.*policy/s,
    ],
  ])('%s', (_, args, message) => {
    const outcome = epsim(args);
    expect(outcome.stderr).toMatch(message);
    expect(outcome).toMatchObject({ status: 2, stdout: '' });
    expect(outcome.stderr).not.toMatch(/\bat .*\.js:\d+/);
  });

  test('every problem of a file at once, with file and line', () => {
    const file = write(
      'name: x\nmodel: kimi-k4\ncluster: { preset: b200-8, ranks: 0 }\nrouting: { policy: quantille }\n',
    );
    const { status, stderr, stdout } = epsim(['run', file]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/bad\.yaml:2: model: .*kimi-k4.*kimi-k3/);
    expect(stderr).toMatch(/bad\.yaml:3: cluster\.ranks/);
    expect(stderr).toMatch(
      /bad\.yaml:4: routing\.policy: unknown routing policy: quantille; did you mean quantile/,
    );
    expect(existsSync('runs/x')).toBe(false);
  });

  test('a path that leaves the scenario folder, and the way to name it on the command line', () => {
    const folder = emptyFolder();
    const config = join(folder, 'published', 'config.json');
    mkdirSync(join(folder, 'published'));
    const fixture = join(root, 'test/spec/fixtures/glm-5-nvfp4.json');
    writeFileSync(config, readFileSync(fixture));
    writeFileSync(
      join(folder, 'published', 'hf_quant_config.json'),
      '{"quant_algo":"NVFP4","group_size":16}',
    );
    const outside = (model: string) => {
      const file = write(`name: x\nmodel: ${model}\ncluster: { preset: b200-8, ranks: 8 }\n`);
      const { status, stderr } = epsim(['check', file]);
      expect(status).toBe(2);
      return stderr;
    };
    const rule = "a path in a scenario may not leave the scenario's folder, ";
    const repair = 'move the file there, or name it on the command line: --set';
    expect(outside('../secret/config.json')).toContain(
      'bad.yaml:2: model: unreadable file: ../secret/config.json; ',
    );
    const refused = outside(config);
    expect(refused).toContain(rule);
    expect(refused).toContain(`${repair} model=${config}\n`);
    expect(outside(`{ config: ${config} }`)).toContain(`${repair} model.config=${config}\n`);
    for (const set of [`model=${config}`, `model={ config: ${config}, topK: 4 }`]) {
      const { status, stdout } = epsim(['check', small, '--set', set]);
      expect({ set, status }).toEqual({ set, status: 0 });
      // The precision that stands beside the file is read with it.
      expect(stdout).toContain('name: nvfp4');
    }
  });
});

describe('help', () => {
  test.each(['run', 'check', 'presets', 'report'])('epsim %s --help shows an example', (command) => {
    const { status, stdout } = epsim([command, '--help']);
    expect(status).toBe(0);
    expect(stdout).toMatch(/Example:\n {2}epsim /);
  });

  test('presets lists models with their parameters and sources', () => {
    const { models } = JSON.parse(epsim(['presets', 'models', '--json']).stdout);
    const k3 = models.find((model: { name: string }) => model.name === 'kimi-k3');
    expect(k3.paramCount / 1e12).toBeCloseTo(2.7795, 4);
    expect(k3.activeParamCount / 1e9).toBeCloseTo(104.19, 2);
    for (const { source } of models) expect(source.length).toBeGreaterThan(10);
  });
});
