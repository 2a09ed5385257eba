import { formatProblem, knownNames, nearestName, shownValue, UserError } from '@epsim/spec';
import { expect, test } from 'vitest';

const slots = {
  file: 'scenarios/k3.yaml',
  line: 9,
  path: 'placement.slotsPerRank',
  kind: 'too few',
  subject: 'slots',
  value: '72 ranks x 12 = 864 < 896 experts',
  help: 'use 13 or more',
};

test('a problem reads as place, path, what, value and way out', () => {
  expect(formatProblem(slots)).toBe(
    'scenarios/k3.yaml:9: placement.slotsPerRank: too few slots: 72 ranks x 12 = 864 < 896 experts; use 13 or more',
  );
  expect(formatProblem({ ...slots, file: '--set', line: null, help: '' })).toBe(
    '--set: placement.slotsPerRank: too few slots: 72 ranks x 12 = 864 < 896 experts',
  );
  expect(formatProblem({ ...slots, path: '', subject: '', value: '' })).toBe(
    'scenarios/k3.yaml:9: too few; use 13 or more',
  );
});

test('an error of the user shows all problems, one line each', () => {
  const error = new UserError([slots, { ...slots, line: 11 }]);
  expect(error).toBeInstanceOf(Error);
  expect(error.message.split('\n')).toHaveLength(2);
  expect(error.problems[1].line).toBe(11);
});

test('the nearest name is found within one edit in three letters', () => {
  const known = ['top-k', 'sign-bias', 'quantile'];
  expect(nearestName('quantille', known)).toBe('quantile');
  expect(nearestName('QUANTILE', known)).toBe('quantile');
  expect(nearestName('tpo-k', known)).toBe('top-k');
  expect(nearestName('signbias', known)).toBe('sign-bias');
  expect(nearestName('greedy', known)).toBeNull();
  expect(nearestName('', known)).toBeNull();
  expect(knownNames('quantille', known)).toBe('did you mean quantile? known: top-k, sign-bias, quantile');
  expect(knownNames('greedy', known)).toBe('known: top-k, sign-bias, quantile');
});

test('a value in a message is one short line', () => {
  expect(shownValue('a\nb')).toBe('a b');
  expect(shownValue({ a: [1, 2] })).toBe('{"a":[1,2]}');
  expect(shownValue('x'.repeat(500))).toHaveLength(80);
  expect(shownValue(undefined)).toBe('');
  expect(shownValue(null)).toBe('null');
});
