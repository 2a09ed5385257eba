import { compareRuns, comparisonSchema, summarize } from '@epsim/results';
import { describe, expect, test } from 'vitest';
import { sampleRecord, sampleScenario } from './sample.js';

const extra = { version: '0', paramCount: 1, activeParamCount: 1, buffers: [], notes: [] };

/** A run of one layer whose busiest expert has `busiest` of the choices beyond its share. */
function runWith(seed: number, busiest: number) {
  const record = sampleRecord([100 + busiest, 100, 100, 100 - busiest], [200 + busiest, 200 - busiest]);
  return { summary: summarize(sampleScenario({ seed }), [record], extra), records: [record] };
}

function row(policy: string, excess: readonly number[]) {
  const runs = excess.map((busiest, i) => runWith(i + 1, busiest));
  return {
    values: { 'routing.policy': policy },
    summaries: runs.map(({ summary }) => summary),
    records: runs.map(({ records }) => records),
  };
}

describe('a comparison', () => {
  // Seeds differ far more than policies do, which is what pairing is for.
  const comparison = compareRuns(
    ['routing.policy'],
    [row('top-k', [20, 40, 60]), row('quantile', [11, 30, 51])],
  );

  test('takes means over seeds with 95 % intervals', () => {
    expect(comparison.seeds).toEqual([1, 2, 3]);
    expect(comparison.rows[0].means['load.maxVio']).toBeCloseTo(0.4, 12);
    const [low, high] = comparison.rows[0].ci95['load.maxVio'] ?? [0, 0];
    expect(high - 0.4).toBeCloseTo(4.303 * (0.2 / Math.sqrt(3)), 3);
    expect(0.4 - low).toBeCloseTo(high - 0.4, 12);
  });

  test('finds a difference seed by seed that intervals side by side would hide', () => {
    const [top, quantile] = comparison.rows.map(({ ci95 }) => ci95['load.maxVio'] ?? [0, 0]);
    expect(quantile[1]).toBeGreaterThan(top[0]);
    const [difference] = comparison.pairedDifferences;
    expect(difference.against).toEqual({ 'routing.policy': 'top-k' });
    expect(difference.means['load.maxVio']).toBeCloseTo(-(0.09 + 0.1 + 0.09) / 3, 12);
    expect(difference.differs['load.maxVio']).toBe(true);
    expect(difference.differs['bytes.perToken']).toBe(false);
  });

  test('keeps the curves of the last step, sorted per layer', () => {
    expect(comparison.rows[0].series?.loadCurve).toEqual([140, 100, 100, 60]);
    expect(comparison.rows[1].series?.maxVio).toHaveLength(1);
  });

  test('is JSON of its own schema', () => {
    expect(comparisonSchema.parse(JSON.parse(JSON.stringify(comparison)))).toEqual(comparison);
  });

  test('a single seed has means, no intervals, and no difference that counts', () => {
    const single = compareRuns(['x'], [row('a', [10]), row('b', [20])]);
    expect(single.rows[0].ci95['load.maxVio']).toBeNull();
    expect(single.pairedDifferences[0].differs['load.maxVio']).toBe(false);
  });

  test('rows that ran with other seeds are refused', () => {
    const other = { ...row('b', [1, 2]), summaries: [runWith(1, 1).summary, runWith(9, 1).summary] };
    expect(() => compareRuns(['x'], [row('a', [1, 2]), other])).toThrow(
      /seeds \[1,9\], the first row with \[1,2\]/,
    );
  });
});
