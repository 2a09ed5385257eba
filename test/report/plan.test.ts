import {
  chartConfig,
  type PlanSource,
  planCharts,
  type ScoredTable,
  themes,
  validationCharts,
} from '@epsim/report';
import { describe, expect, test } from 'vitest';

const plan: PlanSource = {
  about: 'kimi-k3 on gb200-nvl72',
  points: Array.from({ length: 40 }, (_, i) => ({
    label: `layout ${i}`,
    tokensPerSecPerUser: 20 + 3 * i,
    tokensPerSecPerRank: (3000 - 55 * i) * (i % 4 === 0 ? 1 : 0.8),
    relErrorBar: i % 4 === 0 ? 0.15 : null,
    onFrontier: i % 4 === 0,
  })),
  memory: {
    limitBytes: 192e9,
    stacks: [
      { label: 'EP32', parts: { experts: 45e9, attention: 12e9, 'KV cache': 80e9 } },
      { label: 'EP64', parts: { experts: 23e9, attention: 12e9, 'KV cache': 110e9, reserve: 4e9 } },
    ],
  },
  steps: [
    {
      label: 'EP64',
      phases: { experts: { ns: 4e6, provenance: 'fitted' }, attention: { ns: 2e6, provenance: 'derived' } },
    },
  ],
  fleet: [10, 20, 40].map((requestsPerSec) => ({ requestsPerSec, rankCount: 6 * requestsPerSec })),
};

describe('charts of a plan', () => {
  test.each(Object.entries(planCharts))(
    '%s is plain data with a title and units, and left out without its figures',
    (name, maker) => {
      const spec = maker.spec(plan);
      expect(maker.file).toBe(`${name}.png`);
      expect(JSON.parse(JSON.stringify(spec))).toEqual(spec);
      expect(spec?.subtitle).toContain('kimi-k3 on gb200-nvl72');
      expect(maker.spec({ about: 'nothing', points: [] })).toBeNull();
    },
  );

  test('the frontier joins the best layouts with their error bars and sets the others apart', () => {
    const spec = planCharts.frontier.spec(plan);
    if (spec?.kind !== 'xy') throw new Error('the frontier is drawn over two axes');
    expect(spec.series.map(({ values }) => values.length)).toEqual([30, 10]);
    expect(spec.series[1].low?.[0]).toBeCloseTo(3000 * 0.85, 9);
  });

  test('an axis that ends with its data has no tick beyond it', () => {
    const spec = planCharts.fleet.spec(plan);
    if (spec === null) throw new Error('a plan with a rate has a fleet');
    const config = chartConfig(spec, themes.light, 'inside');
    const axis = config.options?.scales?.x as unknown as { afterBuildTicks(scale: object): void };
    const scale = { min: 0, max: 7.6, ticks: [0, 2, 4, 6, 8].map((value) => ({ value })) };
    axis.afterBuildTicks(scale);
    expect(scale.ticks.map(({ value }) => value)).toEqual([0, 2, 4, 6]);
  });

  test.each(['memory', 'step-breakdown'] as const)('%s names every layout', (name) => {
    const spec = planCharts[name].spec(plan);
    if (spec === null) throw new Error('the plan has figures for it');
    const { scales } = chartConfig(spec, themes.light, 'inside').options ?? {};
    expect(scales?.y?.ticks).toMatchObject({ autoSkip: false });
  });

  test('a fleet stays as large as the next rate that was asked for needs it', () => {
    const spec = planCharts.fleet.spec(plan);
    if (spec === null) throw new Error('a plan with a rate has a fleet');
    expect(chartConfig(spec, themes.light, 'inside').data.datasets[0]).toMatchObject({ stepped: 'after' });
  });

  test('a stack of memory adds up to the layout, whichever classes it has', () => {
    const spec = planCharts.memory.spec(plan);
    const bars = spec?.kind === 'xy' ? spec.series.filter(({ mark }) => mark === 'bar') : [];
    const sums = [0, 1].map((i) => bars.reduce((sum, { values }) => sum + (values[i] ?? 0), 0));
    expect(sums).toEqual([137e9, 149e9]);
    expect(spec?.subtitle).toMatch(/192 GB may be used$/);
  });
});

test('a validation shows every row, and the line on which a prediction is right', () => {
  const tables: ScoredTable[] = [
    {
      name: 'low latency',
      medianError: 0.05,
      rows: [
        { measuredNs: 1e5, predictedNs: 1.1e5 },
        { measuredNs: 2e5, predictedNs: 1.9e5 },
      ],
    },
    { name: 'grouped GEMM', medianError: 0.12, rows: [{ measuredNs: 3e6, predictedNs: 2.5e6 }] },
  ];
  const spec = validationCharts['predicted-measured'].spec(tables);
  if (spec?.kind !== 'xy') throw new Error('a validation is drawn over two axes');
  expect(spec.series.map(({ name, values }) => [name, values.length])).toEqual([
    ['low latency (5 %)', 2],
    ['grouped GEMM (12 %)', 1],
    ['right', 2],
  ]);
  expect(spec.series[2].xs).toEqual([1e5, 3e6]);
  expect(validationCharts['predicted-measured'].spec([])).toBeNull();
});

test('tables that share a colour have points of another shape', () => {
  const row = { measuredNs: 1000, predictedNs: 1100 };
  const tables = Array.from({ length: 12 }, (_, i) => ({ name: `t${i}`, rows: [row], medianError: 0.1 }));
  const spec = validationCharts['predicted-measured'].spec(tables);
  if (spec === null) throw new Error('there are rows');
  const { datasets } = chartConfig(spec, themes.light, 'inside').data;
  const looks = datasets.map((set) => {
    const { backgroundColor, pointStyle } = set as { backgroundColor: string; pointStyle: string };
    return `${backgroundColor} ${pointStyle}`;
  });
  expect(new Set(looks).size).toBe(13);
});
