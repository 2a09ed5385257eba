/**
 * The page's own script: draws each chart of the page, again when the reader's theme changes.
 * Runs only in a browser, after chart.js, the matrix chart and the modules beside it.
 */
import type { Chart as ChartType } from 'chart.js';
import type { ChartSpec } from '../chart-spec.js';
import { chartConfig } from './chart-config.js';
import { themes } from './theme.js';

declare const Chart: typeof ChartType;

/** Draws the descriptions in the element `chart-data` into the canvases `chart-0`, `chart-1`, ... */
export function boot(): void {
  const specs = JSON.parse(document.getElementById('chart-data')?.textContent ?? '[]') as ChartSpec[];
  const dark = matchMedia('(prefers-color-scheme: dark)');
  let drawn: { destroy(): void }[] = [];
  const draw = () => {
    for (const chart of drawn) chart.destroy();
    drawn = specs.map((spec, i) => {
      const canvas = document.getElementById(`chart-${i}`) as HTMLCanvasElement;
      return new Chart(canvas, chartConfig(spec, dark.matches ? themes.dark : themes.light, 'outside'));
    });
  };
  draw();
  dark.addEventListener('change', draw);
}
