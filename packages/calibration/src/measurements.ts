/**
 * From a file's text to experiments, whatever the file is.
 */
import { type CsvTable, parseCsv } from './csv.js';
import type { TableReading } from './experiment.js';
import type { ForeignReader } from './foreign/foreign-reader.js';
import { foreignReaders } from './foreign/registry.js';
import { readerFor } from './tables/registry.js';

export interface MeasurementFile {
  readonly name: string;
  readonly text: string;
}

export interface Measurements {
  /** Null when nothing knows how to read the file. */
  readonly reading: TableReading | null;
  readonly table: CsvTable | null;
}

/** Reads a file of measurements by what it holds: another tool's output, or a table known by name or columns. */
export function measurementsIn(file: MeasurementFile): Measurements {
  const foreign = Object.values<ForeignReader>(foreignReaders).find((reader) => reader.matches(file.text));
  const table = foreign === undefined ? parseCsv(file.text) : foreign.toTable(file.text, file.name);
  const reader = readerFor(file.name, table);
  return { reading: reader === null ? null : reader.read(table, file.name), table };
}
