import { parseScenario, resolvedYaml, settingText, UserError } from '@epsim/spec';
import { describe, expect, test } from 'vitest';
import { stubCatalog } from './stub-catalog.js';

const least = 'model: kimi-k3\ncluster: h100-8\n';
const read = (text: string, point: readonly string[] = []) =>
  parseScenario(`${least}${text}`, { file: 'vary.yaml', catalog: stubCatalog, point });

function refusal(text: string, point: readonly string[] = []): string {
  try {
    read(text, point);
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
  throw new Error('was accepted');
}

test('a scenario varies nothing unless it says so, and keeps what it says', () => {
  for (const nothing of ['', 'vary: null\n', 'vary: {}\n']) expect(read(nothing).vary).toBe(null);
  const scenario = read('vary: { model: [kimi-k2, kimi-k3], cluster.ranks: [8, 16] }\n');
  expect(scenario.vary).toEqual({ model: ['kimi-k2', 'kimi-k3'], 'cluster.ranks': [8, 16] });
  expect(parseScenario(resolvedYaml(scenario), { file: 'r.yaml', catalog: stubCatalog })).toEqual(scenario);
});

test('a value as a setting reads as the same value again', () => {
  const values = [
    1,
    '1',
    true,
    'true',
    null,
    'null',
    'a, b',
    '#',
    [],
    [{ rank: 3, nic: 0 }],
    { preset: 'x' },
    '',
  ];
  for (const value of values) {
    const again = read(
      '',
      [`name=${settingText(String(value))}`].filter(() => String(value) !== ''),
    );
    if (String(value) !== '') expect(again.name).toBe(String(value));
    const text = settingText(value);
    expect(text).not.toContain('\n');
    expect(read(`vary: { seed: [${text}] }\n`).vary).toEqual({ seed: [value] });
  }
});

describe('what is wrong is told with its line', () => {
  test.each([
    ['vary: [1]', 'vary.yaml:3: vary: wrong type: [1]; write { routing.policy: [top-k, quantile] }'],
    ['vary: { steps: 2 }', 'vary.yaml:3: vary.steps: wrong values: 2; write a list of 1 to 1000 values'],
    ['vary: { steps: [] }', 'vary.yaml:3: vary.steps: wrong values: []; write a list'],
    ['vary: { steps: [1, 1] }', 'vary.yaml:3: vary.steps: repeated value: 1; name each value once'],
    ['vary: { "a b": [1] }', 'vary.yaml:3: vary.a b: wrong path: a b; write {'],
    ['vary: { vary: [1] }', 'vary.yaml:3: vary.vary: wrong path: vary'],
  ])('%s', (text, message) => {
    expect(refusal(`${text}\n`)).toContain(message);
  });

  test('also where a point is wrong: at the line of its values, not at the field or at --set', () => {
    const text = 'steps: 4\nvary:\n  seed: [1]\n  steps: [2, many]\n';
    expect(read(text, ['steps=2']).steps).toBe(2);
    expect(refusal(text, ['steps=many'])).toMatch(/^vary\.yaml:6: steps: wrong type: many/);
  });
});
