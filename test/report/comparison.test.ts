import {
  type ChartMaker,
  comparisonCharts,
  comparisonHtml,
  comparisonTables,
  terminalComparison,
} from '@epsim/report';
import type { Comparison } from '@epsim/results';
import { describe, expect, test } from 'vitest';
import { sampleComparison } from './sample-comparison.js';

const comparison = sampleComparison();

describe.each(Object.entries<ChartMaker<Comparison>>(comparisonCharts))('the chart %s', (name, maker) => {
  test('shows every row in words, as plain data', () => {
    const spec = maker.spec(comparison);
    expect(maker.file).toBe(`${name}.png`);
    expect(JSON.parse(JSON.stringify(spec))).toEqual(spec);
    const words = JSON.stringify(spec);
    for (const policy of ['top-k', 'sign-bias', 'quantile']) expect(words).toContain(policy);
    expect(spec?.subtitle).toContain('95 % intervals');
  });
});

test('charts of curves are left out when no records were kept, the others are drawn', () => {
  const bare = { ...comparison, rows: comparison.rows.map((row) => ({ ...row, series: null })) };
  const drawn = Object.entries(comparisonCharts).filter(([, maker]) => maker.spec(bare) !== null);
  expect(drawn.map(([name]) => name)).toEqual(['compare-retention', 'compare-bytes', 'compare-step-time']);
});

test('the tables give each mean with half its interval, and a star only where zero is left out', () => {
  const [means, differences] = comparisonTables(comparison);
  const at = means.columns.indexOf('MaxVio, last step');
  expect(means.rows.map(({ name }) => name)).toEqual(['top-k', 'sign-bias', 'quantile']);
  expect(means.rows[2].cells[at]).toMatch(/^0\.\d+ ± 0\.\d+$/);
  expect(differences.rows[1].cells[at]).toMatch(/^-\d.* \*$/);
  expect(differences.rows[1].cells[differences.columns.indexOf('rows/choice')]).not.toContain('*');
});

test.each([60, 80, 120])('a terminal of %i columns holds every line of the tables', (width) => {
  const text = terminalComparison(comparison, { width, colour: false });
  for (const line of text.split('\n').slice(2)) {
    if (!line.startsWith('difference')) expect(line.length, line).toBeLessThanOrEqual(width);
  }
  for (const label of comparisonTables(comparison)[0].columns) expect(text).toContain(label);
});

test('the page holds the charts and both tables', () => {
  const page = comparisonHtml(comparison);
  expect(page.match(/<canvas /g)).toHaveLength(5);
  expect(page.match(/<table/g)).toHaveLength(2);
});
