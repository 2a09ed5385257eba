import {
  coveringQuantile,
  endToEndError,
  KERNEL_SHARE,
  scoredRows,
  servingRows,
  validateEndToEnd,
  wideningOf,
} from '@epsim/planner';
import { randomSource } from '@epsim/spec';
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

test.each(['prefill', 'decode'] as const)(
  'the share of %s that is modelled is what the rows say',
  (phase) => {
    expect(Math.abs(validated.fittedShares[phase] - KERNEL_SHARE[phase])).toBeLessThan(0.02);
  },
);

test('the errors that plans take their bars from are those of the rows, a source left out of its own fit', () => {
  expect(scoredRows).toHaveLength(validated.rows.length);
  for (const [i, { source, phase, leaveOutError, partsError }] of validated.rows.entries()) {
    expect(scoredRows[i]).toMatchObject({ source, phase });
    expect(scoredRows[i].error).toBeCloseTo(leaveOutError, 3);
    expect(scoredRows[i].partsError).toBeCloseTo(partsError, 3);
  }
});

test('bars from the rows of other sources cover about the share of a source that they claim', () => {
  const sources = [...new Set(scoredRows.map(({ source }) => source))];
  const covered = { half: 0, nineTenths: 0 };
  for (const source of sources) {
    const others = endToEndError(scoredRows.filter((row) => row.source !== source));
    for (const row of scoredRows.filter((one) => one.source === source)) {
      const widening = wideningOf(row.partsError, others.partsError);
      if (Math.abs(row.error) <= widening * others.half) covered.half++;
      if (Math.abs(row.error) <= widening * others.nineTenths) covered.nineTenths++;
    }
  }
  // Of 20 rows: a share of 0.9 misses 2, give or take one standard deviation of 1.3; a half misses 10 +- 2.2.
  expect(covered.nineTenths).toBeGreaterThanOrEqual(17);
  expect(covered.half).toBeGreaterThanOrEqual(8);
  expect(covered.half).toBeLessThanOrEqual(14);
});

test('the covering quantile covers its share of values drawn alike, and says the largest where there are too few', () => {
  expect(coveringQuantile([3, 1, 2], 0.5)).toBe(2);
  expect(coveringQuantile([3, 1, 2], 0.9)).toBe(3);
  const random = randomSource(5, 'coverage');
  let inside = 0;
  for (let i = 0; i < 2000; i++) {
    const values = Array.from({ length: 20 }, () => Math.abs(random.normal()));
    if (Math.abs(random.normal()) <= coveringQuantile(values, 0.9)) inside++;
  }
  expect(inside / 2000).toBeGreaterThan(0.88);
  expect(inside / 2000).toBeLessThan(0.93);
});

test('every row that leaves something open says what was assumed, and no row stands twice', () => {
  const names = servingRows.map(({ source, name }) => `${source} ${name}`);
  expect(new Set(names).size).toBe(names.length);
  for (const { balanced, assumed } of servingRows) if (!balanced) expect(assumed.length).toBeGreaterThan(0);
});
