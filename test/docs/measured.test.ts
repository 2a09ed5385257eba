import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { trainMini } from '@epsim/model';
import { modelPresets } from '@epsim/spec';
import { expect, test } from 'vitest';
import { emptyFolder, epsim, root } from '../support/epsim.js';

const script = pathToFileURL(join(root, 'scripts/measure.mjs')).href;
const { measure, measured } = await import(script);
const stored = (name: string) => JSON.parse(readFileSync(join(root, 'docs/data', `${name}.json`), 'utf8'));
const again = (name: string) => `docs/data/${name}.json is stale: run node scripts/measure.mjs ${name}`;

// The training run takes minutes; its first steps are made again below.
test.each(Object.keys(measured).filter((name) => name !== 'training'))(
  'documents repeat what the command of %s answers today',
  (name) => {
    expect(measure(name), again(name)).toEqual(stored(name));
  },
  240_000,
);

test('the first two steps of the stored training run come out again', () => {
  const { command, result } = stored('training');
  expect(command).toBe('epsim journey --train');
  const [first] = result.runs;
  expect(first.loss).toHaveLength(12);
  const run = { seed: result.seed, steps: 2, sequences: result.tokensPerStep / 64, tokensPerSequence: 64 };
  const rates = { muonRate: 0.02, adamRate: 0.005, weightDecay: 0.05 };
  const reports = [
    ...trainMini(modelPresets[result.model as 'kimi-k3-mini'], { ...run, ...rates, perHead: true }),
  ];
  const rounded = (value: number) => Number(value.toPrecision(5));
  expect(
    reports.map(({ loss }) => rounded(loss)),
    again('training'),
  ).toEqual(first.loss.slice(0, 2));
  expect(reports.map(({ maxVio }) => rounded(maxVio))).toEqual(first.maxVio.slice(0, 2));
}, 240_000);

const page = (name: string) => readFileSync(join(root, 'docs', name), 'utf8');
const pages = ['what-if.md', 'placement.md'].map(page).join('\n');

/** Commands whose times a page repeats as they are printed, and those of which it quotes the error bar in a sentence. */
const quoted = [
  ...pages.matchAll(/^(epsim run [^\n]*--time-only[^\n]*)\n\n(time {2}.*?)\n(?:\n|```)/gms),
].map(([, command, lines]) => [command, lines]);
const bars = [...pages.matchAll(/(± [\d.]+ %)[^`.]*\(`(epsim run [^`]+)`\)/g)].map(([, bar, command]) => [
  command,
  `a step, ${bar}`,
]);

test('pages quote times of single runs', () => {
  expect(quoted.length).toBeGreaterThanOrEqual(4);
  expect(bars.length).toBeGreaterThanOrEqual(4);
});

test.each([...quoted, ...bars])(
  '%s prints what a page quotes of it',
  (command, lines) => {
    const [, ...args] = command.split(' ');
    const { stdout } = epsim([...args, '--quiet', '--out', join(emptyFolder(), 'run')]);
    expect(stdout, 'stale: look at the other figures of the page as well').toContain(lines);
  },
  120_000,
);
