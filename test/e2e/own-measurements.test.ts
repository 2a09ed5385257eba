import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { emptyFolder, epsim, root } from '../support/epsim.js';

const folder = emptyFolder();
const sample = (name: string) => join(root, 'scenarios/measurements', name);
const scenario = join(root, 'scenarios/own-measurements.yaml');
const fits = new Map<string, { leaveGroupOutMedianError: number; parameters: Record<string, number> }>();

function timedBy(file: string, ...args: string[]) {
  const { status, stdout, stderr } = epsim(
    ['run', file, '--time-only', '--json', '--quiet', '--out', emptyFolder(), '--force', ...args],
    folder,
  );
  expect(stderr).toBe('');
  expect(status).toBe(0);
  return JSON.parse(stdout).timed;
}

beforeAll(() => {
  for (const [input, output] of [
    ['h200-low-latency.csv', 'my-links.json'],
    ['h200-experts.csv', 'my-experts.json'],
  ] as const) {
    expect(epsim(['calibrate', sample(input), '-o', output], folder).status).toBe(0);
    const { profiles } = JSON.parse(readFileSync(join(folder, output), 'utf8'));
    for (const fit of profiles) fits.set(fit.profile, fit);
  }
}, 60_000);

describe("one's own measurements", () => {
  test('measured, calibrated and named on the command line, they give the times and their error bars', () => {
    const before = timedBy(scenario);
    const after = timedBy(scenario, '--set', 'cluster.profiles=[my-links.json, my-experts.json]');
    for (const [phase, profile, file] of [
      ['dispatch', 'h200/low-latency-dispatch', 'my-links.json'],
      ['combine', 'h200/low-latency-combine', 'my-links.json'],
      ['experts', 'h200/marlin-w4a16', 'my-experts.json'],
    ] as const) {
      const { provenance, source, relErrorBar } = after.sources[phase];
      expect(provenance).toBe('fitted');
      expect(source).toContain(`${profile} of ${file}: github.com/ai-dynamo/aiconfigurator`);
      expect(relErrorBar).toBeCloseTo(fits.get(profile)?.leaveGroupOutMedianError as number, 12);
      expect(after.phases[phase]).not.toBe(before.phases[phase]);
      expect(Math.abs(after.phases[phase] / before.phases[phase] - 1)).toBeLessThan(0.1);
    }
    expect(after.relErrorBar).not.toBe(before.relErrorBar);
  });

  test('outside what was measured the bar is twice as wide', () => {
    const named = ['--set', 'cluster.profiles=my-links.json'];
    const inside = timedBy(scenario, ...named).sources.dispatch.relErrorBar;
    const outside = timedBy(scenario, ...named, '--set', 'cluster.ranks=16').sources.dispatch.relErrorBar;
    expect(outside).toBeCloseTo(2 * inside, 12);
  });

  test('in a scenario the path counts from its folder, and the resolved scenario needs no other file', () => {
    const inner = join(emptyFolder(), 'inner');
    mkdirSync(inner);
    writeFileSync(join(inner, 'my-links.json'), readFileSync(join(folder, 'my-links.json')));
    const text = readFileSync(scenario, 'utf8').replace('ranks: 8 }', 'ranks: 8, profiles: my-links.json }');
    writeFileSync(join(inner, 'mine.yaml'), text);
    const named = timedBy(join(inner, 'mine.yaml'));
    expect(named.sources.dispatch.source).toContain('h200/low-latency-dispatch of my-links.json');
    const resolved = join(emptyFolder(), 'resolved.yaml');
    writeFileSync(resolved, epsim(['check', join(inner, 'mine.yaml')]).stdout);
    expect(timedBy(resolved)).toEqual(named);
  });

  test('a plan takes them for its experts and its links, and says so', () => {
    const { stdout } = epsim(
      [
        ...['plan', join(root, 'scenarios/k3-h200-vs-gb200.yaml'), '--json', '--quiet'],
        ...['--set', 'cluster.ranks=16', '--set', 'cluster.profiles=[my-links.json, my-experts.json]'],
      ],
      folder,
    );
    const { sources } = JSON.parse(stdout);
    const error = 100 * (fits.get('h200/marlin-w4a16')?.leaveGroupOutMedianError as number);
    expect(sources.experts).toMatch(/^fitted: h200\/marlin-w4a16 of my-experts.json/);
    expect(sources.experts).toContain(`rows left out are ${error.toFixed(1)} % off`);
    expect(sources.scaleUp).toMatch(/^fitted: h200\/low-latency-combine of my-links.json/);
  });

  test.each([
    [
      'profiles: nowhere.json',
      /mine.yaml:7: cluster.profiles: unreadable file: nowhere.json; .*no such file/,
    ],
    ['profiles: 3', /mine.yaml:7: cluster.profiles: /],
    ['profiles: wrong.json', /wrong.json:3: profiles.0.parameters.startNs: out of range: -5/],
    [
      'profiles: other.json',
      /mine.yaml:7: cluster.profiles: wrong device: b200\/low-latency-dispatch for H200 SXM; measure this device/,
    ],
  ])('%s is refused with file, line and the repair', (written, message) => {
    const at = emptyFolder();
    const profileFile = (profile: string, startNs: number) =>
      `{"profiles": [{"profile": "${profile}", "model": "low-latency",\n"parameters": {\n"startNs": ${startNs}},
        "range": {}, "medianError": null, "leaveGroupOutMedianError": null, "source": "made up"}]}`;
    writeFileSync(join(at, 'wrong.json'), profileFile('h200/low-latency-dispatch', -5));
    writeFileSync(join(at, 'other.json'), profileFile('b200/low-latency-dispatch', 5));
    const text = readFileSync(scenario, 'utf8').replace(/^# .*\n/gm, '');
    writeFileSync(join(at, 'mine.yaml'), `\n\n${text.replace('ranks: 8 }', `ranks: 8, ${written} }`)}`);
    for (const command of ['check', 'run']) {
      const { status, stderr } = epsim([command, 'mine.yaml'], at);
      expect(status).toBe(2);
      expect(stderr).toMatch(message);
    }
  });
});
