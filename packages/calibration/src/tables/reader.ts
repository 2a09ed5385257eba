/**
 * What a reader of one kind of table is: the columns it needs, and how it turns rows into experiments.
 */
import type { CsvRow, CsvTable } from '../csv.js';
import type { TableReading } from '../experiment.js';
import { type SystemFigures, systemFigures } from '../systems.js';

export interface TableReader {
  readonly summary: string;
  /** A table is of this kind when it has all of these columns. */
  readonly columns: readonly string[];
  /** `fileName` tells the system where no column does. */
  read(table: CsvTable, fileName: string): TableReading;
}

/** The system of a row: its column, else the file's name, else the one that the published table is from. */
export function systemOf(row: CsvRow, fileName: string, published: string): SystemFigures | null {
  const named = row.cells.system;
  if (named !== undefined && named !== '') return systemFigures(named);
  return systemFigures(fileName) ?? systemFigures(published);
}
