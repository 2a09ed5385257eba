/**
 * What a reader of another tool's output is: it turns the text into a table of a kind that is known.
 */
import type { CsvRow, CsvTable } from '../csv.js';

export interface ForeignReader {
  readonly summary: string;
  matches(text: string): boolean;
  /** A table with the columns of one of the known kinds. `name` may tell the system. */
  toTable(text: string, name: string): CsvTable;
}

/** A table made in memory; lines count from 1. */
export function tableOf(
  columns: readonly string[],
  cells: readonly Readonly<Record<string, string>>[],
): CsvTable {
  const rows: CsvRow[] = cells.map((row, index) => ({ line: index + 1, cells: row }));
  return { columns, rows, notes: [], broken: [] };
}
