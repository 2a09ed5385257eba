/**
 * The shell of a page: style, charts and the libraries that draw them, all inside one file.
 * One idea: the page needs no network and no other file, and says so to the browser by its content policy.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { ChartSpec } from './chart-spec.js';
import { pageStyle } from './page-style.js';

const require = createRequire(import.meta.url);

/** A page of `body` and its charts; the body holds a canvas `chart-i` for every entry of `specs`. */
export function pageHtml(title: string, body: string, specs: readonly ChartSpec[]): string {
  const policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${escapeHtml(title)} · epsim</title>
<style>${pageStyle}</style>
</head>
<body>
<main>
${body}
</main>
<script type="application/json" id="chart-data">${JSON.stringify(specs).replaceAll('<', '\\u003c')}</script>
<script>${library('chart.js', 'chart.umd.min.js')}</script>
<script>${library('chartjs-chart-matrix', 'chartjs-chart-matrix.min.js')}</script>
<script>(() => {
${['format', 'theme', 'plugins', 'chart-config', 'boot'].map(ownScript).join('\n')}
boot();
})();</script>
</body>
</html>
`;
}

/** A chart's place on the page, its words as text so that they wrap and can be read aloud. */
export function figureHtml(spec: ChartSpec, index: number): string {
  const title = escapeHtml(spec.title);
  return `
<figure class="${spec.kind}">
<figcaption><h2>${title}</h2><p>${escapeHtml(spec.subtitle)}</p></figcaption>
<div><canvas id="chart-${index}" role="img" aria-label="${title}"></canvas></div>
</figure>`;
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** A library's browser build as text, without its reference to a source map that is not there. */
function library(name: string, file: string): string {
  const main = require.resolve(name);
  const text = readFileSync(main.replace(/[^/\\]+$/, file), 'utf8');
  return inlined(text.replace(/^\/\/# sourceMappingURL=.*$/m, ''), file);
}

/** One of the modules under `page` as plain statements: they import only each other, and stand in order. */
function ownScript(name: string): string {
  const text = readFileSync(new URL(`./page/${name}.js`, import.meta.url), 'utf8');
  const plain = text
    .replace(/^import .*$/gm, '')
    .replace(/^export (?=function|const)/gm, '')
    .replace(/^\/\/# sourceMappingURL=.*$/m, '');
  return inlined(plain, name);
}

function inlined(script: string, name: string): string {
  if (/<\/script|<!--/i.test(script))
    throw new Error(`invariant: ${name} would end the script element that holds it`);
  return script;
}
