/**
 * A run as one self-contained page: key figures, what is scaled, charts, every figure with its name and source.
 * Charts are the same descriptions that the pictures are drawn from.
 */
import type { Run, Summary } from '@epsim/results';
import type { ChartMaker } from './chart-spec.js';
import { charts } from './charts/index.js';
import { keyFigures } from './key-figures.js';
import { formatValue } from './page/format.js';
import { escapeHtml, figureHtml, pageHtml } from './page-html.js';
import { errorBar, phaseRows, summaryTables } from './summary-table.js';

/** The page of a run, HTML text. Of an interrupted run it shows what the finished steps tell. */
export function reportHtml(run: Run): string {
  const { summary } = run;
  const specs = Object.values<ChartMaker<Run>>(charts)
    .map((maker) => maker.spec(run))
    .filter((spec) => spec !== null);
  const title = summary === null ? 'interrupted run' : summary.scenario;
  const words = summary === null ? interrupted(run) : summaryHtml(summary);
  return pageHtml(
    title,
    `${words}\n<section class="charts">${specs.map(figureHtml).join('')}</section>\n${
      summary === null ? '' : tablesHtml(summary)
    }`,
    specs,
  );
}

function summaryHtml(summary: Summary): string {
  const { model, cluster, routing, steps } = summary;
  const about = [
    `${model.name}: ${model.expertCount} experts, top-${model.topK}, rows of ${model.expertWidth}`,
    `${formatValue(model.paramCount, 'count')} parameters, ${formatValue(model.activeParamCount, 'count')} active`,
    `${cluster.name} (${cluster.device}), ${cluster.rankCount} ranks`,
    `${routing.policy} routing`,
    `${steps.finished} of ${steps.asked} steps, ${summary.layers} layers`,
    `seed ${summary.seed}`,
    `epsim ${summary.version}`,
  ];
  const figures = keyFigures(summary).map(
    ({ label, value, note }) =>
      `<div><dt>${escapeHtml(label)}</dt><dd><b>${escapeHtml(value)}</b><span>${escapeHtml(note)}</span></dd></div>`,
  );
  const notes = summary.notes.map((note) => `<li>${escapeHtml(note)}</li>`);
  return `<header><h1>${escapeHtml(summary.scenario)}</h1><p>${about.map(escapeHtml).join(' · ')}</p></header>
<dl class="key">${figures.join('')}</dl>
${notes.length === 0 ? '' : `<section class="notes"><h2>What is scaled, assumed or left out</h2><ul>${notes.join('')}</ul></section>`}`;
}

function interrupted({ records }: Run): string {
  return `<header><h1>Interrupted run</h1><p>${records.length} records of layers were kept; there is no summary.</p></header>`;
}

function tablesHtml(summary: Summary): string {
  const phases = phaseRows(summary).map(
    (row) =>
      `<tr><th scope="row">${escapeHtml(row.phase)}</th><td>${formatValue(row.ns, 'ns')}</td><td>${formatValue(row.share, 'fraction')}</td><td class="left">${row.provenance}, ${errorBar(row.relErrorBar)}</td><td class="left">${escapeHtml(row.source)}</td></tr>`,
  );
  const head =
    '<tr><th>phase</th><th>per step</th><th>share</th><th class="left">provenance</th><th class="left">source</th></tr>';
  const phaseTable =
    phases.length === 0
      ? ''
      : `<h2>Time of a step by phase</h2><div class="scroll"><table><thead>${head}</thead><tbody>${phases.join('')}</tbody></table></div>`;
  const tables = summaryTables(summary).map(({ title, rows }) => {
    const body = rows.map(
      ({ name, value, meaning }) =>
        `<tr><th scope="row"><code>${name}</code></th><td>${escapeHtml(value)}</td><td class="left">${escapeHtml(meaning)}</td></tr>`,
    );
    return `<h2>${title}</h2><div class="scroll"><table class="figures"><tbody>${body.join('')}</tbody></table></div>`;
  });
  return `<section class="tables">${phaseTable}${tables.join('')}</section>`;
}
