/**
 * A chart description to a chart.js configuration: all looks are decided here, once.
 * Runs in Node and inside the page; it imports only its neighbours.
 * Knows nothing about runs.
 */
import type { ChartConfiguration } from 'chart.js';
import type { Axis, ChartSpec, HeatSpec, Series, XySpec } from '../chart-spec.js';
import { formatValue } from './format.js';
import { background, cellValues, colourBar, whiskers } from './plugins.js';
import { colourOf, fontFamily, mix, pointShapeOf, type Theme } from './theme.js';

/**
 * The configuration that draws `spec` in the colours of `theme`.
 * A picture carries its title `inside`; a page sets it `outside` as text that wraps on a narrow screen.
 */
export function chartConfig(spec: ChartSpec, theme: Theme, title: 'inside' | 'outside'): ChartConfiguration {
  const config = spec.kind === 'heat' ? heatConfig(spec, theme) : xyConfig(spec, theme);
  if (title === 'outside' && config.options?.plugins !== undefined) {
    config.options.plugins = {
      ...config.options.plugins,
      title: { display: false },
      subtitle: { display: false },
    };
  }
  return config;
}

function xyConfig(spec: XySpec, theme: Theme): ChartConfiguration {
  const [category, value] = spec.horizontal === true ? (['y', 'x'] as const) : (['x', 'y'] as const);
  const config = {
    type: spec.series.some((series) => series.mark === 'bar') ? 'bar' : 'line',
    data: {
      ...(spec.x.labels === undefined ? {} : { labels: [...spec.x.labels] }),
      datasets: spec.series.map((series) => datasetOf(series, theme, spec.stacked === true)),
    },
    options: {
      ...commonOptions(spec, theme),
      indexAxis: category,
      interaction: {
        mode: spec.x.labels === undefined ? 'nearest' : 'index',
        intersect: false,
        axis: category,
      },
      scales: {
        [category]: {
          ...axisOptions(spec.x, theme),
          ...(spec.x.labels === undefined
            ? { bounds: spec.series.some((series) => series.mark === 'points') ? 'ticks' : 'data' }
            : { type: 'category', ticks: labelTicks(theme, spec.horizontal === true) }),
          stacked: spec.stacked === true,
          grid: { display: false },
        },
        [value]: { ...axisOptions(spec.y, theme), ...intervalRange(spec), stacked: spec.stacked === true },
      },
    },
    plugins: [background(theme), whiskers(spec, theme)],
  };
  return config as ChartConfiguration;
}

function datasetOf(series: Series, theme: Theme, stacked: boolean) {
  const colour = colourOf(series, theme);
  const { xs } = series;
  const data = xs === undefined ? [...series.values] : series.values.map((y, i) => ({ x: xs[i], y }));
  const shared = { label: series.name, data, borderColor: colour };
  if (series.mark === 'bar') {
    return {
      ...shared,
      type: 'bar',
      backgroundColor: colour,
      borderColor: theme.background,
      borderWidth: stacked ? 1 : 0,
      categoryPercentage: 0.92,
      barPercentage: 0.92,
      maxBarThickness: 64,
      order: 2,
    };
  }
  const points = series.mark === 'points' || series.values.length === 1;
  return {
    ...shared,
    type: 'line',
    backgroundColor: colour,
    borderWidth: 2,
    pointBorderColor: series.mark === 'points' ? theme.background : colour,
    pointBorderWidth: series.mark === 'points' ? 1.5 : 0,
    borderDash: series.mark === 'dashed' ? [6, 4] : [],
    showLine: series.mark !== 'points',
    stepped: series.mark === 'steps' ? 'after' : false,
    pointStyle: pointShapeOf(series, theme),
    pointRadius: points
      ? series.values.length > 60
        ? 3.5
        : 5
      : series.values.length <= 40 && series.mark === 'line'
        ? 2.5
        : 0,
    pointHitRadius: 8,
    order: 1,
  };
}

function heatConfig(spec: HeatSpec, theme: Theme): ChartConfiguration {
  const { size, step, values, unit } = spec;
  // Even traffic gets the middle shade and not the darkest, so that hot pairs stand out and nothing else does.
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  const scaleEnd = values.reduce((a, b) => Math.max(a, b), 2 * mean);
  const gap = size <= 32 ? 1 : 0;
  const cell = (side: 'width' | 'height') => (context: { chart: { chartArea?: Record<string, number> } }) =>
    Math.max(1, (context.chart.chartArea?.[side] ?? 0) / size - gap + (gap === 0 ? 0.6 : 0));
  const cellName = (at: number) => (step === 1 ? `${at}` : `${at * step} to ${at * step + step - 1}`);
  const common = commonOptions(spec, theme);
  const config = {
    type: 'matrix',
    data: {
      datasets: [
        {
          label: spec.title,
          data: values.map((v, i) => ({ x: i % size, y: Math.floor(i / size), v })),
          backgroundColor: (context: { raw?: { v: number } }) =>
            mix(theme.heat, scaleEnd === 0 ? 0 : (context.raw?.v ?? 0) / scaleEnd),
          borderWidth: 0,
          width: cell('width'),
          height: cell('height'),
        },
      ],
    },
    options: {
      ...common,
      layout: { padding: { top: 4, left: 8, bottom: 8, right: 92 } },
      plugins: {
        ...common.plugins,
        legend: { display: false },
        tooltip: {
          callbacks: {
            title: () => '',
            label: ({ raw }: { raw: { x: number; y: number; v: number } }) =>
              `${cellName(raw.y)} to ${cellName(raw.x)}: ${formatValue(raw.v, unit)}`,
          },
        },
      },
      scales: {
        x: heatAxis(spec, spec.x.label, theme),
        y: { ...heatAxis(spec, spec.y.label, theme), reverse: true },
      },
    },
    plugins: [background(theme), colourBar(scaleEnd, spec, theme), cellValues(scaleEnd, spec, theme)],
  };
  return config as unknown as ChartConfiguration;
}

/** Cells stand on whole numbers; ticks name every cell up to 16, then a power of two of them. */
function heatAxis({ size, step }: HeatSpec, label: string, theme: Theme) {
  const every = size <= 16 ? 1 : 2 ** Math.ceil(Math.log2(size / 8));
  return {
    type: 'linear',
    min: -0.5,
    max: size - 0.5,
    offset: false,
    grid: { display: false },
    border: { display: false },
    title: titleOf(label, theme),
    ticks: {
      color: theme.muted,
      font: { family: fontFamily, size: 12 },
      maxRotation: 0,
      callback: (tick: number) => String(tick * step),
    },
    afterBuildTicks: (scale: { ticks: { value: number }[] }) => {
      scale.ticks = Array.from({ length: Math.ceil(size / every) }, (_, i) => ({ value: i * every }));
    },
  };
}

function commonOptions(spec: ChartSpec, theme: Theme) {
  return {
    animation: false,
    maintainAspectRatio: false,
    color: theme.text,
    font: { family: fontFamily, size: 13 },
    layout: { padding: { top: 4, left: 8, bottom: 8, right: 20 } },
    plugins: {
      title: {
        display: true,
        text: spec.title,
        align: 'start',
        color: theme.text,
        font: { family: fontFamily, size: 17, weight: 600 },
        padding: { top: 8, bottom: 2 },
      },
      subtitle: {
        display: spec.subtitle !== '',
        text: spec.subtitle,
        align: 'start',
        color: theme.muted,
        font: { family: fontFamily, size: 12.5 },
        padding: { bottom: 12 },
      },
      legend: {
        display: spec.kind === 'xy' && spec.series.length > 1,
        position: 'bottom',
        align: 'start',
        labels: spec.kind === 'xy' ? legendLabels(spec, theme) : {},
      },
      tooltip: spec.kind === 'xy' ? { callbacks: { label: tooltipLabel(spec) } } : {},
    },
  };
}

/** Legend entries in the order of the series, each with the mark that the chart draws. */
function legendLabels(spec: XySpec, theme: Theme) {
  const styles = { bar: 'rectRounded', line: 'line', steps: 'line', dashed: 'line' };
  return {
    color: theme.text,
    font: { family: fontFamily, size: 12.5 },
    usePointStyle: true,
    pointStyleWidth: 13,
    boxHeight: 7,
    padding: 14,
    generateLabels: (chart: { isDatasetVisible(index: number): boolean }) =>
      spec.series.map((series, index) => ({
        text: series.name,
        fontColor: theme.text,
        fillStyle: colourOf(series, theme),
        strokeStyle: colourOf(series, theme),
        lineWidth: series.mark === 'bar' || series.mark === 'points' ? 0 : 2.5,
        lineDash: series.mark === 'dashed' ? [5, 3] : [],
        pointStyle: series.mark === 'points' ? pointShapeOf(series, theme) : styles[series.mark],
        datasetIndex: index,
        hidden: !chart.isDatasetVisible(index),
      })),
  };
}

function tooltipLabel(spec: XySpec) {
  return ({ datasetIndex, dataIndex }: { datasetIndex: number; dataIndex: number }) => {
    const series = spec.series[datasetIndex];
    const show = (value: number | null | undefined) => formatValue(value ?? null, spec.y.unit);
    const range =
      series.low === undefined
        ? ''
        : ` (${show(series.low[dataIndex])} to ${show(series.high?.[dataIndex])})`;
    return `${series.name}: ${show(series.values[dataIndex])}${range}`;
  };
}

function axisOptions(axis: Axis, theme: Theme) {
  return {
    type: axis.log === true ? 'logarithmic' : 'linear',
    afterBuildTicks: axis.log === true ? keepRoundTicks : keepInsideTicks,
    ...(axis.min === undefined ? {} : { min: axis.min }),
    ...(axis.max === undefined ? {} : { max: axis.max }),
    title: titleOf(axis.label, theme),
    grid: { color: theme.grid },
    border: { color: theme.grid },
    ticks: {
      color: theme.muted,
      font: { family: fontFamily, size: 12 },
      maxTicksLimit: 8,
      maxRotation: 0,
      callback: (tick: number) => tickText(tick, axis),
    },
  };
}

/** Room for the intervals, which chart.js does not know of. */
function intervalRange(spec: XySpec) {
  const ends = spec.series
    .flatMap(({ low = [], high = [] }) => [...low, ...high])
    .filter((end) => end !== null);
  return ends.length === 0 ? {} : { suggestedMin: Math.min(...ends), suggestedMax: Math.max(...ends) };
}

function tickText(tick: number, axis: Axis): string {
  // More digits than figures have, or neighbouring ticks of a narrow axis would read alike.
  return tick === 0 ? '0' : formatValue(tick, axis.unit, 6);
}

function labelTicks(theme: Theme, all: boolean) {
  const font = { family: fontFamily, size: 12 };
  return { color: theme.muted, font, maxRotation: 0, autoSkip: !all, autoSkipPadding: 14 };
}

/** On a logarithmic axis, only the lines that read well: 1, 2 and 5 of every power of ten. */
function keepRoundTicks(scale: { ticks: { value: number }[] }): void {
  scale.ticks = scale.ticks.filter(({ value }) => /^[125](\.0+)?e/.test(value.toExponential(9)));
}

/** Only ticks on the axis: where it ends with its data, the next round number lies outside the picture. */
function keepInsideTicks(scale: { min: number; max: number; ticks: { value: number }[] }): void {
  scale.ticks = scale.ticks.filter(({ value }) => value >= scale.min && value <= scale.max);
}

function titleOf(text: string, theme: Theme) {
  return { display: text !== '', text, color: theme.muted, font: { family: fontFamily, size: 12.5 } };
}
