/**
 * What a reader of one kind of table is: the columns it needs, and how it turns rows into experiments.
 */
import type { CsvTable } from '../csv.js';
import type { TableReading } from '../experiment.js';

export interface TableReader {
  readonly summary: string;
  /** A table is of this kind when it has all of these columns. */
  readonly columns: readonly string[];
  read(table: CsvTable): TableReading;
}
