/** A comparison as one self-contained page: charts, then both tables. */
import type { Comparison } from '@epsim/results';
import type { ChartMaker } from '../chart-spec.js';
import { escapeHtml, figureHtml, pageHtml } from '../page-html.js';
import { comparisonCharts } from './index.js';
import { ledgerCells } from './ledger.js';
import { comparisonLine } from './row-words.js';
import { type ComparisonTable, comparisonTables } from './table.js';

export function comparisonHtml(comparison: Comparison): string {
  const specs = Object.values<ChartMaker<Comparison>>(comparisonCharts)
    .map((maker) => maker.spec(comparison))
    .filter((spec) => spec !== null);
  const ledgers = comparison.ledgers.map((ledger) =>
    linesHtml(ledger.title, ledger.columns, ledgerCells(ledger)),
  );
  const tables = comparisonTables(comparison).map(tableHtml);
  const title = `${comparison.scenario}: ${comparison.vary.join(', ')}`;
  const body = `<header><h1>${escapeHtml(title)}</h1><p>${escapeHtml(comparisonLine(comparison))}</p></header>
<section class="tables">${ledgers.join('')}</section>
<section class="charts">${specs.map(figureHtml).join('')}</section>
<section class="tables">${tables.join('')}</section>`;
  return pageHtml(title, body, specs);
}

/** Turned on its side: a line per figure, a column per row of the comparison, which suits a narrow screen. */
function tableHtml({ title, columns, rows }: ComparisonTable): string {
  const lines = columns.map((label, i) => [label, ...rows.map(({ cells }) => cells[i])]);
  return linesHtml(
    title,
    rows.map(({ name }) => name),
    lines,
  );
}

/** Each line begins with its name. */
function linesHtml(title: string, columns: readonly string[], lines: readonly (readonly string[])[]): string {
  const head = `<tr><th></th>${columns.map((name) => `<th>${escapeHtml(name)}</th>`).join('')}</tr>`;
  const body = lines.map(
    ([name, ...cells]) =>
      `<tr><th scope="row">${escapeHtml(name)}</th>${cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`,
  );
  return `<h2>${escapeHtml(title)}</h2><div class="scroll"><table><thead>${head}</thead><tbody>${body.join('')}</tbody></table></div>`;
}
