/**
 * What a reader of one kind of table is: the columns it needs, and how it turns rows into experiments.
 */
import type { CsvRow, CsvTable } from '../csv.js';
import type { Experiment, RowModel, TableReading } from '../experiment.js';
import { type SystemFigures, systemFigures } from '../systems.js';

export interface TableReader {
  readonly summary: string;
  /** A table is of this kind when it has all of these columns. */
  readonly columns: readonly string[];
  /** `fileName` tells the system where no column does. */
  read(table: CsvTable, fileName: string): TableReading;
}

/** A measured value as a model sees it, or the reason why it is skipped. */
export type Measured = RowModel | string;

/** Why a value can be neither fitted nor scored; null when it can. */
function unusable({ groups, measured, model, predict }: RowModel): string | null {
  for (const group of groups) {
    const [kind, text] = group.split(' ');
    const size = Number(text);
    if (Number.isFinite(size) && !Number.isInteger(size)) return `${kind} is not whole`;
  }
  const start = model.parameters.map((parameter) => parameter.start);
  const sound = [measured, predict(start)].every((value) => Number.isFinite(value) && value > 0);
  return sound ? null : 'a number is out of range';
}

/**
 * Reads a table row by row. `read` gives what each measured value of a row is, or one reason to skip the whole row,
 * which then counts as `valuesPerRow` values; so does a row with the wrong number of cells.
 */
export function readRows(
  table: CsvTable,
  valuesPerRow: number,
  read: (row: CsvRow) => readonly Measured[] | string,
): TableReading {
  const experiments: Experiment[] = [];
  const skipped = new Map<string, number>();
  const skip = (reason: string, values: number) => {
    if (values > 0) skipped.set(reason, (skipped.get(reason) ?? 0) + values);
  };
  skip('wrong number of cells', valuesPerRow * table.broken.length);
  for (const row of table.rows) {
    const measured = read(row);
    if (typeof measured === 'string') {
      skip(measured, valuesPerRow);
      continue;
    }
    for (const value of measured) {
      if (typeof value === 'string') {
        skip(value, 1);
        continue;
      }
      const reason = unusable(value);
      if (reason !== null) skip(reason, 1);
      else experiments.push({ ...value, line: row.line });
    }
  }
  return { experiments, skipped: [...skipped].map(([reason, values]) => ({ reason, values })) };
}

/** Why a row is skipped whose system has no device preset, or none with links. */
export function noFigures(system: string | undefined): string {
  return `no figures for system ${system}`;
}

/** The system of a row: its column, else the file's name, else the one that the published table is from. */
export function systemOf(row: CsvRow, fileName: string, published: string): SystemFigures | null {
  const named = row.cells.system;
  if (named !== undefined && named !== '') return systemFigures(named);
  return systemFigures(fileName) ?? systemFigures(published);
}
