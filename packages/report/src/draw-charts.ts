/**
 * Chart descriptions to PNG files, by chart.js on a canvas without a browser.
 * One idea: the font travels with the package, so a picture is the same on every machine, also on one without fonts.
 */
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ChartJSNodeCanvas } from 'chartjs-node-canvas';
import type { ChartMaker, ChartSpec } from './chart-spec.js';
import { chartConfig } from './page/chart-config.js';
import { themes } from './page/theme.js';

const require = createRequire(import.meta.url);

/** Logical pixels of a picture; files have twice as many each way. */
const sizes = { xy: { width: 1000, height: 520 }, heat: { width: 860, height: 760 } } as const;

/**
 * Draws every chart of `makers` that `source` has data for into `dir`, in the light theme.
 * Returns the names of the files written, in the order of the registry.
 */
export async function drawCharts<T>(
  makers: Readonly<Record<string, ChartMaker<T>>>,
  source: T,
  dir: string,
): Promise<string[]> {
  const renderers = new Map<ChartSpec['kind'], ChartJSNodeCanvas>();
  const files: string[] = [];
  for (const maker of Object.values(makers)) {
    const spec = maker.spec(source);
    if (spec === null) continue;
    const renderer = renderers.get(spec.kind) ?? rendererFor(spec.kind);
    renderers.set(spec.kind, renderer);
    const config = chartConfig(spec, themes.light, 'inside');
    const options = { ...config.options, devicePixelRatio: 2 };
    writeFileSync(join(dir, maker.file), await renderer.renderToBuffer({ ...config, options }));
    files.push(maker.file);
  }
  return files;
}

function rendererFor(kind: ChartSpec['kind']): ChartJSNodeCanvas {
  const canvas = new ChartJSNodeCanvas({
    ...sizes[kind],
    plugins: { modern: kind === 'heat' ? matrixParts() : [] },
  });
  for (const weight of [400, 600]) {
    const font = require.resolve(`@fontsource/inter/files/inter-latin-${weight}-normal.woff2`);
    canvas.registerFont(font, { family: 'Inter' });
  }
  return canvas;
}

/**
 * The matrix chart, loaded afresh: chartjs-node-canvas gives each renderer a chart.js of its own and forgets it,
 * and a matrix that was built on an earlier one is "not a registered controller" on this one.
 */
function matrixParts() {
  delete require.cache[require.resolve('chartjs-chart-matrix')];
  const { MatrixController, MatrixElement } =
    require('chartjs-chart-matrix') as typeof import('chartjs-chart-matrix');
  return [MatrixController, MatrixElement];
}
