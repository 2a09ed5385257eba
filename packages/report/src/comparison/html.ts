/** A comparison as one self-contained page: charts, then both tables. */
import type { Comparison } from '@epsim/results';
import type { ChartMaker } from '../chart-spec.js';
import { escapeHtml, figureHtml, pageHtml } from '../page-html.js';
import { comparisonCharts } from './index.js';
import { comparisonLine } from './row-words.js';
import { type ComparisonTable, comparisonTables } from './table.js';

export function comparisonHtml(comparison: Comparison): string {
  const specs = Object.values<ChartMaker<Comparison>>(comparisonCharts)
    .map((maker) => maker.spec(comparison))
    .filter((spec) => spec !== null);
  const tables = comparisonTables(comparison).map(tableHtml);
  const title = `${comparison.scenario}: ${comparison.vary.join(', ')}`;
  const body = `<header><h1>${escapeHtml(title)}</h1><p>${escapeHtml(comparisonLine(comparison))}</p></header>
<section class="charts">${specs.map(figureHtml).join('')}</section>
<section class="tables">${tables.join('')}</section>`;
  return pageHtml(title, body, specs);
}

/** Turned on its side: a line per figure, a column per row of the comparison, which suits a narrow screen. */
function tableHtml({ title, columns, rows }: ComparisonTable): string {
  const head = `<tr><th></th>${rows.map(({ name }) => `<th>${escapeHtml(name)}</th>`).join('')}</tr>`;
  const lines = columns.map(
    (label, i) =>
      `<tr><th scope="row">${escapeHtml(label)}</th>${rows.map(({ cells }) => `<td>${escapeHtml(cells[i])}</td>`).join('')}</tr>`,
  );
  return `<h2>${escapeHtml(title)}</h2><div class="scroll"><table><thead>${head}</thead><tbody>${lines.join('')}</tbody></table></div>`;
}
