import { placementPolicies } from '@epsim/placement';
import { expect, test } from 'vitest';
import { inputOf } from './shapes.js';

const { lp } = placementPolicies;

test('a split before the solver is loaded says what to await, and works after', async () => {
  const placement = lp.place(inputOf([4, 1, 1], 2, 4), {});
  const choices = Int32Array.of(4, 1, 1, 0, 0, 0);
  const split = () => lp.split?.({ placement, choices, domainRanks: 2 }, {})?.slotQuota;
  expect(split).toThrow('the solver is not loaded; await loadSolver()');
  await lp.ready?.();
  const quota = split() ?? [];
  expect([...quota].reduce((a, b) => a + b, 0)).toBe(6);
});
