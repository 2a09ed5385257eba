/**
 * Colours and the font of charts, for a light and a dark page.
 * One of the modules that also run inside the page; it imports only types.
 */
import type { Series } from '../chart-spec.js';

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

export const fontFamily = "Inter, system-ui, 'Segoe UI', Roboto, sans-serif";

export function colourOf(series: Series, theme: Theme): string {
  if (typeof series.colour === 'string') return theme[series.colour];
  return theme.series[series.colour % theme.series.length];
}

/** The mark of a point; a second one where colours come round again. */
export function pointShapeOf(series: Series, theme: Theme): 'circle' | 'rectRot' {
  return typeof series.colour === 'number' && series.colour >= theme.series.length ? 'rectRot' : 'circle';
}

/** The colour at `at`, 0 to 1, along evenly spaced stops of #rrggbb. */
export function mix(stops: readonly string[], at: number): string {
  const position = Math.min(Math.max(at, 0), 1) * (stops.length - 1);
  const below = Math.min(Math.floor(position), stops.length - 2);
  const channel = (stop: string, i: number) => Number.parseInt(stop.slice(1 + 2 * i, 3 + 2 * i), 16);
  const parts = [0, 1, 2].map((i) => {
    const from = channel(stops[below], i);
    return Math.round(from + (channel(stops[below + 1], i) - from) * (position - below));
  });
  return `rgb(${parts.join(' ')})`;
}
