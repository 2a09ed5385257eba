import { END_TO_END_ERROR, PREFILL_KERNEL_SHARE, servingRows, validateEndToEnd } from '@epsim/planner';
import { expect, test } from 'vitest';

const validated = validateEndToEnd();

test('published serving throughputs are predicted with a median error below a fifth, a source left out of the fit too', () => {
  expect(validated.rows).toHaveLength(servingRows.length);
  expect(validated.medianError).toBeLessThan(0.2);
  expect(validated.leaveSourceOutMedianError).toBeLessThan(0.2);
  expect(validated.medianErrorByPhase.decode).toBeLessThan(0.2);
  expect(validated.medianErrorByPhase.prefill).toBeLessThan(0.2);
});

test('expert-parallel decode does not get worse with the number of ranks', () => {
  for (const { phase, ranks, error } of validated.rows) {
    if (phase === 'decode' && ranks >= 72) expect(Math.abs(error)).toBeLessThan(0.3);
  }
});

test('the error bar of plans and the share of prefill that is modelled are what the published rows say', () => {
  expect(Math.abs(validated.leaveSourceOutMedianError - END_TO_END_ERROR)).toBeLessThan(0.05);
  expect(Math.abs(validated.fittedPrefillShare - PREFILL_KERNEL_SHARE)).toBeLessThan(0.05);
});

test('every row that leaves something open says what was assumed, and no row stands twice', () => {
  const names = servingRows.map(({ source, name }) => `${source} ${name}`);
  expect(new Set(names).size).toBe(names.length);
  for (const { balanced, assumed } of servingRows) if (!balanced) expect(assumed.length).toBeGreaterThan(0);
});
