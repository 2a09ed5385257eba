/** A comparison for a terminal: tables that are split by columns where the width does not hold them. */
import type { Comparison } from '@epsim/results';
import type { TerminalLook } from '../terminal-summary.js';
import { comparisonLine } from './row-words.js';
import { type ComparisonTable, comparisonTables } from './table.js';

/** Lines of text, ending with a newline. */
export function terminalComparison(comparison: Comparison, look: TerminalLook): string {
  const parts = comparisonTables(comparison).map((table) => tableText(table, look));
  return `${comparisonLine(comparison)}\n\n${parts.join('\n')}`;
}

function tableText({ title, columns, rows }: ComparisonTable, { width, colour }: TerminalLook): string {
  const nameWidth = Math.max(...rows.map(({ name }) => name.length)) + 2;
  const widths = columns.map(
    (label, i) => Math.max(label.length, ...rows.map(({ cells }) => cells[i].length)) + 2,
  );
  const bold = (text: string) => (colour ? `\u001b[1m${text}\u001b[0m` : text);
  const lines = [bold(title)];
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
