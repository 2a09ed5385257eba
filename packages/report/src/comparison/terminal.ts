/** A comparison for a terminal: tables that are split by columns where the width does not hold them. */
import type { Comparison, Ledger } from '@epsim/results';
import type { TerminalLook } from '../terminal-summary.js';
import { ledgerCells } from './ledger.js';
import { comparisonLine } from './row-words.js';
import { type ComparisonTable, comparisonTables } from './table.js';

/** Lines of text, ending with a newline. */
export function terminalComparison(comparison: Comparison, look: TerminalLook): string {
  const ledgers = comparison.ledgers.map((ledger) => ledgerText(ledger, look));
  const parts = comparisonTables(comparison).map((table) => tableText(table, look));
  return `${comparisonLine(comparison)}\n\n${[...ledgers, ...parts].join('\n')}`;
}

const bold = (text: string, { colour }: TerminalLook) => (colour ? `\u001b[1m${text}\u001b[0m` : text);

/** Columns that the width does not hold stand below one another. */
function ledgerText(ledger: Ledger, look: TerminalLook): string {
  const lines = [['', ...ledger.columns], ...ledgerCells(ledger)];
  const widths = lines[0].map((_, i) => Math.max(...lines.map((cells) => cells[i].length)) + 2);
  const text: string[] = [bold(ledger.title, look)];
  for (let from = 1; from < widths.length; ) {
    let to = from + 1;
    let used = widths[0] + widths[from];
    while (to < widths.length && used + widths[to] <= look.width) used += widths[to++];
    for (const [name, ...cells] of lines) {
      const shown = cells.slice(from - 1, to - 1).map((cell, i) => cell.padStart(widths[from + i]));
      text.push(name.padEnd(widths[0]) + shown.join(''));
    }
    text.push('');
    from = to;
  }
  return text.join('\n');
}

function tableText({ title, columns, rows }: ComparisonTable, look: TerminalLook): string {
  const { width } = look;
  const nameWidth = Math.max(...rows.map(({ name }) => name.length)) + 2;
  const widths = columns.map(
    (label, i) => Math.max(label.length, ...rows.map(({ cells }) => cells[i].length)) + 2,
  );
  const lines = [bold(title, look)];
  let from = 0;
  while (from < columns.length) {
    let to = from + 1;
    let used = nameWidth + widths[from];
    while (to < columns.length && used + widths[to] <= width) used += widths[to++];
    const line = (name: string, cells: readonly string[]) =>
      name.padEnd(nameWidth) + cells.map((text, i) => text.padStart(widths[from + i])).join('');
    lines.push(
      line('', columns.slice(from, to)),
      ...rows.map(({ name, cells }) => line(name, cells.slice(from, to))),
      '',
    );
    from = to;
  }
  return lines.join('\n');
}
