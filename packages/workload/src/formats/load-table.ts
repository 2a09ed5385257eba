/**
 * Tables of expert loads, [layers][experts], as people keep them: JSON, .npy, CSV with a row a layer, or the long
 * CSV layer_id,expert_id,count. Errors name the file and the row and column. Knows no model.
 */
import { utf8 } from './bytes.js';
import { isNpy, readNpy } from './npy.js';
import { shapeText } from './tensor.js';

export interface LoadTable {
  readonly layerCount: number;
  readonly expertCount: number;
  /** Row-major [layerCount x expertCount], none negative. */
  readonly values: Float64Array;
}

/**
 * Reads a table from text: JSON when it starts with a bracket or brace, else CSV. `caseName` chooses among several
 * case objects. Throws RangeError with the file's name and place.
 */
export function parseLoadTable(text: string, file: string, caseName?: string): LoadTable {
  const start = text.trimStart()[0];
  if (start === '[' || start === '{') return tableFromJson(parseJson(text, file), file, caseName);
  return tableFromCsv(text, file);
}

/** As `parseLoadTable`, from the bytes of a file, which may be .npy too. Steps of tables are summed. */
export function readLoadTable(bytes: Uint8Array, file: string, caseName?: string): LoadTable {
  if (!isNpy(bytes)) return parseLoadTable(utf8(bytes), file, caseName);
  const { shape, values } = readNpy(bytes, file);
  if (shape.length !== 2 && shape.length !== 3) {
    throw new RangeError(`${file}: ${shapeText(shape)}; a load table is [layers x experts]`);
  }
  const [layerCount, expertCount] = shape.slice(-2);
  const sums = new Float64Array(layerCount * expertCount);
  for (let i = 0; i < values.length; i++) {
    const at = i % sums.length;
    sums[at] += checkedLoad(values[i], () => {
      return `${file}: row ${Math.floor(at / expertCount)}, column ${at % expertCount}`;
    });
  }
  return { layerCount, expertCount, values: sums };
}

/** A table from parsed JSON: rows, { weight: rows } and the like, or a list of named cases. */
export function tableFromJson(json: unknown, file: string, caseName?: string): LoadTable {
  const rows = rowsOf(json, file, caseName);
  if (isCube(rows))
    return sumOfSteps(
      rows.map((step, i) => tableFromRows(step, `${file}: step ${i}`)),
      file,
    );
  return tableFromRows(rows, file);
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RangeError(`${file}: not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const ROW_KEYS = ['weight', 'logical_count', 'logicalCount', 'loads'] as const;

function rowsOf(json: unknown, file: string, caseName: string | undefined): unknown[] {
  if (Array.isArray(json)) {
    if (json.some((entry) => typeof entry === 'object' && entry !== null && !Array.isArray(entry))) {
      return rowsOf(chooseCase(json, file, caseName), file, undefined);
    }
    return json.every((entry) => typeof entry === 'number') && json.length > 0 ? [json] : json;
  }
  if (typeof json === 'object' && json !== null) {
    for (const key of ROW_KEYS) {
      const rows = (json as Record<string, unknown>)[key];
      if (Array.isArray(rows)) return rowsOf(rows, `${file}: ${key}`, undefined);
    }
  }
  throw new RangeError(
    `${file}: no load table; write [layers][experts], or an object with ${ROW_KEYS.join(', ')}`,
  );
}

function chooseCase(cases: readonly unknown[], file: string, caseName: string | undefined): unknown {
  const names = cases.map((entry) => String((entry as { name?: unknown } | null)?.name));
  if (caseName === undefined) {
    if (cases.length === 1) return cases[0];
    throw new RangeError(`${file}: ${cases.length} cases; choose one with case: ${names.join(', ')}`);
  }
  const found = names.indexOf(caseName);
  if (found < 0) throw new RangeError(`${file}: unknown case: ${caseName}; known: ${names.join(', ')}`);
  return cases[found];
}

function isCube(rows: readonly unknown[]): rows is unknown[][] {
  return (
    rows.length > 0 && rows.every((row) => Array.isArray(row) && row.length > 0 && Array.isArray(row[0]))
  );
}

function tableFromRows(rows: readonly unknown[], file: string): LoadTable {
  if (rows.length === 0) throw new RangeError(`${file}: no rows; a load table has a row for each layer`);
  const expertCount = Array.isArray(rows[0]) ? rows[0].length : 0;
  const values = new Float64Array(rows.length * expertCount);
  rows.forEach((row, layer) => {
    if (!Array.isArray(row)) throw new RangeError(`${file}: row ${layer}: not a list of loads`);
    if (row.length !== expertCount || expertCount === 0) {
      throw new RangeError(`${file}: row ${layer}: ${row.length} experts where row 0 has ${expertCount}`);
    }
    for (let e = 0; e < expertCount; e++) {
      values[layer * expertCount + e] = checkedLoad(row[e], () => `${file}: row ${layer}, column ${e}`);
    }
  });
  return { layerCount: rows.length, expertCount, values };
}

function checkedLoad(value: unknown, place: () => string): number {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) {
    throw new RangeError(`${place()}: not a load: ${JSON.stringify(value)}; loads are numbers of at least 0`);
  }
  return value;
}

function sumOfSteps(tables: readonly LoadTable[], file: string): LoadTable {
  const first = tables[0];
  const values = new Float64Array(first.values.length);
  tables.forEach((table, i) => {
    if (table.layerCount !== first.layerCount || table.expertCount !== first.expertCount) {
      throw new RangeError(
        `${file}: step ${i}: [${table.layerCount} x ${table.expertCount}], ` +
          `step 0 is [${first.layerCount} x ${first.expertCount}]; give all steps the same layers and experts`,
      );
    }
    for (let j = 0; j < values.length; j++) values[j] += table.values[j];
  });
  return { ...first, values };
}

function tableFromCsv(text: string, file: string): LoadTable {
  const lines = text.split(/\r?\n/);
  const rows: { line: number; cells: string[] }[] = [];
  lines.forEach((line, i) => {
    const bare = line.trim();
    if (bare !== '' && !bare.startsWith('#')) {
      rows.push({ line: i + 1, cells: bare.split(',').map((cell) => cell.trim()) });
    }
  });
  if (rows.length === 0) throw new RangeError(`${file}: empty; a load table has a row for each layer`);
  const header = rows[0].cells;
  if (header.every((cell) => cell !== '' && Number.isFinite(Number(cell)))) return wideCsv(rows, file);
  const columns = ['layer_id', 'expert_id', 'count'].map((name) => header.indexOf(name));
  if (columns.every((column) => column >= 0)) return longCsv(rows.slice(1), columns, file);
  return wideCsv(rows.slice(1), file);
}

function wideCsv(rows: readonly { line: number; cells: string[] }[], file: string): LoadTable {
  if (rows.length === 0) throw new RangeError(`${file}: a header and no rows`);
  const expertCount = rows[0].cells.length;
  const values = new Float64Array(rows.length * expertCount);
  rows.forEach(({ line, cells }, layer) => {
    if (cells.length !== expertCount) {
      throw new RangeError(
        `${file}:${line}: ${cells.length} columns where line ${rows[0].line} has ${expertCount}`,
      );
    }
    cells.forEach((cell, e) => {
      values[layer * expertCount + e] = csvLoad(cell, `${file}:${line}: column ${e + 1}`);
    });
  });
  return { layerCount: rows.length, expertCount, values };
}

function longCsv(
  rows: readonly { line: number; cells: string[] }[],
  columns: readonly number[],
  file: string,
): LoadTable {
  const entries = rows.map(({ line, cells }) =>
    columns.map((column, i) => {
      const value = csvLoad(cells[column] ?? '', `${file}:${line}: column ${column + 1}`);
      if (i < 2 && (!Number.isInteger(value) || value > 65_535)) {
        throw new RangeError(`${file}:${line}: column ${column + 1}: not an id: ${value}`);
      }
      return value;
    }),
  );
  if (entries.length === 0) throw new RangeError(`${file}: a header and no rows`);
  const layerCount = entries.reduce((most, [layer]) => Math.max(most, layer + 1), 0);
  const expertCount = entries.reduce((most, [, expert]) => Math.max(most, expert + 1), 0);
  const values = new Float64Array(layerCount * expertCount);
  for (const [layer, expert, count] of entries) values[layer * expertCount + expert] += count;
  return { layerCount, expertCount, values };
}

function csvLoad(cell: string, place: string): number {
  const value = cell === '' ? Number.NaN : Number(cell);
  return checkedLoad(Number.isFinite(value) ? value : cell, () => place);
}
