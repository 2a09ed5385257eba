import { keyFigures, summaryTables, terminalSummary } from '@epsim/report';
import { describe, expect, test } from 'vitest';
import { sampleRun } from './sample-run.js';

const { summary } = sampleRun({ ranks: 64, experts: 896, steps: 3, layers: 2 });
if (summary === null) throw new Error('a sample run has a summary');

describe('a summary in words', () => {
  test('every figure is printed with its field name and what it means', () => {
    for (const { rows } of summaryTables(summary)) {
      for (const { name, value, meaning } of rows) {
        expect(name).toMatch(/^[a-z]+(\.[a-zA-Z]+)+$/);
        expect(value).not.toMatch(/NaN|undefined/);
        expect(meaning, name).not.toBe('');
      }
    }
  });

  test('the three definitions of imbalance stand beside each other, each by name', () => {
    const names = summaryTables(summary).flatMap(({ rows }) => rows.map((row) => row.name));
    for (const over of ['load', 'ranks']) {
      for (const measure of ['maxOverMean', 'meanOverMax', 'maxMinusMeanOverMean']) {
        expect(names).toContain(`${over}.${measure}`);
      }
    }
  });

  test('an error bar names the share of time that it covers', () => {
    const time = keyFigures(summary).find(({ label }) => label.startsWith('step time'));
    expect(time?.note).toMatch(/^± 8 % on \d+(\.\d+)? % of the time, not measured on the rest$/);
  });

  test.each([60, 80, 100, 160])('%i columns hold every line, and no number is lost', (width) => {
    const lines = terminalSummary(summary, { width, colour: false }).split('\n');
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(width);
    const words = lines.join(' ').replace(/\s+/g, ' ');
    for (const part of [
      'max/mean',
      'mean/max',
      '(max-mean)/mean',
      'MaxVio',
      'fitted',
      'scaled to inner size 64 of 3072',
    ]) {
      expect(words).toContain(part);
    }
  });

  test('colours change nothing but colours', () => {
    const plain = terminalSummary(summary, { width: 80, colour: false });
    const coloured = terminalSummary(summary, { width: 80, colour: true });
    expect(coloured).not.toBe(plain);
    // biome wants no control characters in a pattern, so the escape is split off instead.
    const stripped = coloured
      .split('\u001b')
      .map((part, i) => (i === 0 ? part : part.replace(/^\[\d+m/, '')));
    expect(stripped.join('')).toBe(plain);
  });
});
