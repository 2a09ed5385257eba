/** Figures that no run makes, side by side, as cells of text for terminal, page and document. */
import type { Ledger } from '@epsim/results';
import { markdownTable } from '../markdown.js';
import { formatValue } from '../page/format.js';

/** A line per row: its name, then a cell per column. */
export function ledgerCells({ rows }: Ledger): string[][] {
  return rows.map(({ name, unit, values }) => [
    name,
    ...values.map((value) => {
      if (typeof value === 'string') return value;
      return unit === null ? value.toLocaleString('en-US') : formatValue(value, unit);
    }),
  ]);
}

export function ledgerMarkdown(ledger: Ledger): string {
  return markdownTable(['', ...ledger.columns], ledgerCells(ledger));
}
