/**
 * A chart description to a chart.js configuration: all looks are decided here, once.
 * Runs in Node and inside the page; it imports only types and `format`.
 * Knows nothing about runs.
 */
import type { ChartConfiguration, Plugin } from 'chart.js';
import type { Axis, ChartSpec, HeatSpec, Series, XySpec } from '../chart-spec.js';
import { formatValue } from './format.js';

export interface Theme {
  readonly background: string;
  readonly text: string;
  readonly muted: string;
  readonly grid: string;
  readonly series: readonly string[];
  /** From nothing to the largest value. */
  readonly heat: readonly string[];
}

/** Okabe and Ito's colours, which stay apart for colour-blind readers; ColorBrewer's Blues for amounts. */
export const themes: { readonly light: Theme; readonly dark: Theme } = {
  light: {
    background: '#ffffff',
    text: '#1c2733',
    muted: '#6b7785',
    grid: '#e6eaee',
    series: ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#5b5f97', '#8c6d31'],
    heat: ['#f3f8fd', '#c6dbef', '#6baed6', '#2171b5', '#08306b'],
  },
  dark: {
    background: '#151b22',
    text: '#e4e9ee',
    muted: '#94a1ae',
    grid: '#29323c',
    series: ['#56b4e9', '#ff8a4c', '#2bc79c', '#e59ac2', '#f0c541', '#8fd0ff', '#a6a9e0', '#c9a86a'],
    heat: ['#18222d', '#15466e', '#2a7ab8', '#79b8e6', '#eaf6ff'],
  },
};

const fontFamily = "Inter, system-ui, 'Segoe UI', Roboto, sans-serif";

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
            ? { bounds: 'data' }
            : { type: 'category', ticks: labelTicks(theme, spec.horizontal === true) }),
          stacked: spec.stacked === true,
          grid: { display: false },
        },
        [value]: { ...axisOptions(spec.y, theme), stacked: spec.stacked === true },
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
    pointRadius: points ? 5 : series.values.length <= 40 && series.mark === 'line' ? 2.5 : 0,
    pointHitRadius: 8,
    order: 1,
  };
}

function heatConfig(spec: HeatSpec, theme: Theme): ChartConfiguration {
  const { size, step, values, unit } = spec;
  const largest = values.reduce((a, b) => Math.max(a, b), 0);
  const gap = size <= 32 ? 1 : 0;
  const every = size <= 16 ? 1 : 2 ** Math.ceil(Math.log2(size / 8));
  const cell = (side: 'width' | 'height') => (context: { chart: { chartArea?: Record<string, number> } }) =>
    Math.max(1, (context.chart.chartArea?.[side] ?? 0) / size - gap + (gap === 0 ? 0.6 : 0));
  const axis = (label: string) => ({
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
  });
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
            mix(theme.heat, largest === 0 ? 0 : (context.raw?.v ?? 0) / largest),
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
      scales: { x: axis(spec.x.label), y: { ...axis(spec.y.label), reverse: true } },
    },
    plugins: [background(theme), colourBar(largest, spec, theme)],
  };
  return config as unknown as ChartConfiguration;
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
  const styles = { bar: 'rectRounded', line: 'line', dashed: 'line', points: 'circle' };
  return {
    color: theme.text,
    font: { family: fontFamily, size: 12.5 },
    usePointStyle: true,
    pointStyleWidth: 16,
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
        pointStyle: styles[series.mark],
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
      callback: (tick: number) =>
        axis.log === true && !/^[125]/.test(tick.toExponential()) ? '' : tickText(tick, axis),
    },
  };
}

function tickText(tick: number, axis: Axis): string {
  return tick === 0 ? '0' : formatValue(tick, axis.unit);
}

function labelTicks(theme: Theme, all: boolean) {
  const font = { family: fontFamily, size: 12 };
  return { color: theme.muted, font, maxRotation: 0, autoSkip: !all, autoSkipPadding: 14 };
}

function titleOf(text: string, theme: Theme) {
  return { display: text !== '', text, color: theme.muted, font: { family: fontFamily, size: 12.5 } };
}

function colourOf(series: Series, theme: Theme): string {
  if (typeof series.colour === 'string') return theme[series.colour];
  return theme.series[series.colour % theme.series.length];
}

/** Fills the canvas, so that a picture is readable on any page. */
function background(theme: Theme): Plugin {
  return {
    id: 'background',
    beforeDraw({ ctx, width, height }) {
      ctx.save();
      ctx.globalCompositeOperation = 'destination-over';
      ctx.fillStyle = theme.background;
      ctx.fillRect(0, 0, width, height);
      ctx.restore();
    },
  };
}

/** A thin line from `low` to `high` through each mark of the series that have them. */
function whiskers(spec: XySpec, theme: Theme): Plugin {
  return {
    id: 'whiskers',
    afterDatasetsDraw(chart) {
      const { ctx } = chart;
      const scale = chart.scales[spec.horizontal === true ? 'x' : 'y'];
      ctx.save();
      ctx.strokeStyle = theme.text;
      ctx.lineWidth = 1.25;
      spec.series.forEach(({ low, high }, s) => {
        if (low === undefined || high === undefined || !chart.isDatasetVisible(s)) return;
        chart.getDatasetMeta(s).data.forEach((mark, i) => {
          if (low[i] === null || high[i] === null) return;
          const from = scale.getPixelForValue(low[i]);
          const to = scale.getPixelForValue(high[i]);
          ctx.beginPath();
          ctx.moveTo(...(spec.horizontal === true ? ([from, mark.y] as const) : ([mark.x, from] as const)));
          ctx.lineTo(...(spec.horizontal === true ? ([to, mark.y] as const) : ([mark.x, to] as const)));
          ctx.stroke();
        });
      });
      ctx.restore();
    },
  };
}

/** What the colours of a heat map mean: a strip at the right edge with its ends named. */
function colourBar(largest: number, spec: HeatSpec, theme: Theme): Plugin {
  return {
    id: 'colourBar',
    afterDraw({ ctx, chartArea: { right, top, bottom } }) {
      const left = right + 18;
      const gradient = ctx.createLinearGradient(0, bottom, 0, top);
      theme.heat.forEach((colour, i) => {
        gradient.addColorStop(i / (theme.heat.length - 1), colour);
      });
      ctx.save();
      ctx.fillStyle = gradient;
      ctx.fillRect(left, top, 12, bottom - top);
      ctx.fillStyle = theme.muted;
      ctx.font = `12px ${fontFamily}`;
      ctx.textBaseline = 'middle';
      for (const part of [0, 0.5, 1]) {
        ctx.fillText(formatValue(largest * part, spec.unit), left + 17, bottom + (top - bottom) * part);
      }
      ctx.restore();
    },
  };
}

/** The colour at `at`, 0 to 1, along evenly spaced stops of #rrggbb. */
function mix(stops: readonly string[], at: number): string {
  const position = Math.min(Math.max(at, 0), 1) * (stops.length - 1);
  const below = Math.min(Math.floor(position), stops.length - 2);
  const channel = (stop: string, i: number) => Number.parseInt(stop.slice(1 + 2 * i, 3 + 2 * i), 16);
  const parts = [0, 1, 2].map((i) => {
    const from = channel(stops[below], i);
    return Math.round(from + (channel(stops[below + 1], i) - from) * (position - below));
  });
  return `rgb(${parts.join(' ')})`;
}
