import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChartMaker, chartConfig, charts, drawCharts, themes } from '@epsim/report';
import type { Run } from '@epsim/results';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sampleRecord } from '../results/sample.js';
import { sampleRun } from './sample-run.js';

const k3 = sampleRun({ ranks: 64, experts: 896, steps: 3, layers: 2 });
const makers: [string, ChartMaker<Run>][] = Object.entries(charts);

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'epsim-charts-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

describe.each(makers)('the chart %s', (name, maker) => {
  test('says what it shows, in which unit, on named axes', () => {
    const spec = maker.spec(k3);
    expect(maker.file).toBe(`${name}.png`);
    expect(maker.summary).not.toBe('');
    expect(spec?.title).not.toBe('');
    expect(spec?.subtitle).toContain('kimi-k3');
    expect(spec?.y.label).not.toBe('');
  });

  test('is plain data, equal for equal runs', () => {
    const spec = maker.spec(k3);
    expect(JSON.parse(JSON.stringify(spec))).toEqual(spec);
    expect(maker.spec(sampleRun({ ranks: 64, experts: 896, steps: 3, layers: 2 }))).toEqual(spec);
  });

  test('has colours for every theme and a value for every place', () => {
    const spec = maker.spec(k3);
    if (spec === null) throw new Error(`${name} draws nothing of a complete run`);
    for (const theme of [themes.light, themes.dark]) {
      for (const { data } of chartConfig(spec, theme, 'inside').data.datasets)
        expect(data.length).toBeGreaterThan(0);
    }
    if (spec.kind === 'heat') expect(spec.values).toHaveLength(spec.size * spec.size);
    else
      for (const series of spec.series)
        expect(series.values).toHaveLength((spec.x.labels ?? series.xs ?? []).length);
  });

  test('draws nothing of a run without records and tables', () => {
    const empty: Run = { ...k3, summary: null, records: [], rankTraffic: null, linkUse: null };
    expect(maker.spec(empty)).toBeNull();
  });
});

describe('pictures', () => {
  test('every chart of a complete run becomes a PNG of its own with many shades', async () => {
    const files = await drawCharts(charts, k3, dir);
    expect(files).toEqual(makers.map(([, { file }]) => file));
    for (const file of files) {
      const png = readFileSync(join(dir, file));
      expect(png.subarray(1, 4).toString()).toBe('PNG');
      expect(png.length).toBeGreaterThan(20_000);
    }
  });

  test('equal runs give equal pictures', async () => {
    const small = sampleRun({ ranks: 8, experts: 32, steps: 1, layers: 1 });
    const [file] = await drawCharts({ phases: charts.phases }, small, dir);
    const first = readFileSync(join(dir, file));
    await drawCharts({ phases: charts.phases }, small, dir);
    expect(readFileSync(join(dir, file)).equals(first)).toBe(true);
  });
});

describe('what charts tell', () => {
  const leaning: Run = {
    ...k3,
    records: [
      sampleRecord([300, 0, 100, 0], [300, 100], { layer: 0 }),
      sampleRecord([0, 100, 0, 300], [100, 300], { layer: 1 }),
    ],
  };

  test('the load curve sorts each layer by itself before it averages', () => {
    const spec = charts['expert-load'].spec(leaning);
    expect(spec?.kind === 'xy' && spec.series[0].values).toEqual([300, 100, 0, 0]);
  });

  test('the load of ranks is one real layer, never an average that cancels', () => {
    const spec = charts['rank-load'].spec(leaning);
    expect(spec?.kind === 'xy' && spec.series[0].values).toEqual([300, 100]);
    expect(spec?.subtitle).toContain('max/mean over ranks: 1.5 here, 1.5 mean');
  });

  test('above 64 ranks a cell of the heat map holds a block of ranks, and no byte is lost', () => {
    const bytes = Float64Array.from({ length: 130 * 130 }, (_, i) => i % 7);
    const spec = charts['rank-traffic'].spec({ ...k3, rankTraffic: { rankCount: 130, bytes } });
    if (spec?.kind !== 'heat') throw new Error('rank-traffic is a heat map');
    expect(spec).toMatchObject({ size: 44, step: 3 });
    expect(spec.values.reduce((a, b) => a + b)).toBe(bytes.reduce((a, b) => a + b));
  });

  test('a phase is named with the source of its time', () => {
    const spec = charts.phases.spec(k3);
    const names = spec?.kind === 'xy' ? spec.series.map((series) => series.name) : [];
    expect(names).toContain('dispatch (fitted)');
    expect(names).toContain('experts (derived)');
  });
});
