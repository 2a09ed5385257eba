/** A comparison as a document: its ledgers, then a line per figure and a column per row of the comparison. */
import type { Comparison } from '@epsim/results';
import { markdownTable } from '../markdown.js';
import { ledgerMarkdown } from './ledger.js';
import { comparisonLine } from './row-words.js';
import { type ComparisonTable, comparisonTables } from './table.js';

/** Text, ending with a newline. */
export function comparisonMarkdown(comparison: Comparison): string {
  const ledgers = comparison.ledgers.map((ledger) => [`## ${ledger.title}`, ledgerMarkdown(ledger)]);
  const tables = comparisonTables(comparison).map((table) => [`## ${table.title}`, tableMarkdown(table)]);
  const title = `# ${comparison.scenario}: ${comparison.vary.join(', ')}`;
  return `${[title, comparisonLine(comparison), ...ledgers.flat(), ...tables.flat()].join('\n\n')}\n`;
}

export function tableMarkdown({ columns, rows }: ComparisonTable): string {
  return markdownTable(
    ['', ...rows.map(({ name }) => name)],
    columns.map((label, i) => [label, ...rows.map(({ cells }) => cells[i].replace(/ \*$/, ' \\*'))]),
  );
}
