/**
 * Comma-separated tables with comments, as measurements are published.
 * The one idea: cells stay text with their line numbers; a reader that needs a number asks for it and hears
 * about it when there is none. Knows nothing of what the columns mean.
 */

export interface CsvRow {
  /** Line in the file, from 1. */
  readonly line: number;
  readonly cells: Readonly<Record<string, string>>;
}

export interface CsvTable {
  readonly columns: readonly string[];
  readonly rows: readonly CsvRow[];
  /** Text of the lines that start with '#'. */
  readonly notes: readonly string[];
  /** Lines whose number of cells differs from the header's. */
  readonly broken: readonly number[];
}

/** Cells of one line; double quotes hold commas, and two of them are one. */
function splitCsvLine(line: string): string[] {
  const cells: string[] = [];
  let cell = '';
  let quoted = false;
  for (let i = 0; i < line.length; i++) {
    const char = line[i];
    if (char === '"') {
      if (quoted && line[i + 1] === '"') {
        cell += '"';
        i++;
      } else {
        quoted = !quoted;
      }
    } else if (char === ',' && !quoted) {
      cells.push(cell.trim());
      cell = '';
    } else {
      cell += char;
    }
  }
  cells.push(cell.trim());
  return cells;
}

/** Reads a table: comments, one header line, then rows. An empty text has no columns and no rows. */
export function parseCsv(text: string): CsvTable {
  const notes: string[] = [];
  const rows: CsvRow[] = [];
  const broken: number[] = [];
  let columns: readonly string[] = [];
  const withoutMark = text.startsWith('\uFEFF') ? text.slice(1) : text;
  withoutMark.split(/\r?\n/).forEach((raw, index) => {
    const line = raw.trim();
    if (line === '') return;
    if (line.startsWith('#')) {
      notes.push(line.slice(1).trim());
      return;
    }
    const cells = splitCsvLine(line);
    if (columns.length === 0) {
      columns = cells;
    } else if (cells.length !== columns.length) {
      broken.push(index + 1);
    } else {
      rows.push({
        line: index + 1,
        cells: Object.fromEntries(columns.map((name, i) => [name, cells[i] as string])),
      });
    }
  });
  return { columns, rows, notes, broken };
}

/** A finite number above 0, as every size and measurement is; null where the cell is missing, empty or something else. */
export function numberIn(row: CsvRow, column: string): number | null {
  const text = row.cells[column];
  if (text === undefined || text === '') return null;
  const value = Number(text);
  return Number.isFinite(value) && value > 0 ? value : null;
}

/** The number of a cell, or `absent` where the cell is missing or empty; null where it is something else. */
export function numberOr<Absent extends number | null>(
  row: CsvRow,
  column: string,
  absent: Absent,
): number | Absent | null {
  return (row.cells[column] ?? '') === '' ? absent : numberIn(row, column);
}

/** The numbers of several cells, or null when one of them is missing. */
export function numbersIn<Name extends string>(
  row: CsvRow,
  columns: readonly Name[],
): Record<Name, number> | null {
  const values = {} as Record<Name, number>;
  for (const column of columns) {
    const value = numberIn(row, column);
    if (value === null) return null;
    values[column] = value;
  }
  return values;
}
