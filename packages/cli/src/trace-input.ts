/** Files and folders of recordings, as the importers take them. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  decodeTrace,
  type ImporterName,
  type ImportHints,
  importers,
  importTrace,
  isTraceFile,
  parseLoadTable,
  type Trace,
  type TraceFile,
  totalLoads,
} from '@epsim/workload';
import { UsageError } from './failure.js';
import { readBytes } from './scenario-file.js';

/** The files at `paths`; a folder stands for the files in it. */
export function traceFiles(paths: readonly string[]): TraceFile[] {
  return paths.flatMap((path) => {
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
    const names = isFolder
      ? readdirSync(path)
          .sort()
          .map((name) => join(path, name))
      : [path];
    return names
      .filter((name) => !isFolder || statSync(name).isFile())
      .map((name) => ({ name, bytes: readBytes(name) }));
  });
}

/** The trace in `paths`, in our own format or in one that an importer knows. */
export async function readTrace(
  paths: readonly string[],
  hints: ImportHints,
  format: string | undefined,
): Promise<Trace> {
  const files = traceFiles(paths);
  if (format !== undefined && !Object.hasOwn(importers, format)) {
    throw new UsageError(`--format: unknown format: ${format}; known: ${Object.keys(importers).join(', ')}`);
  }
  if (files.length === 1 && isTraceFile(files[0].bytes)) return decodeTrace(files[0].bytes, files[0].name);
  return importTrace(files, hints, format as ImporterName | undefined);
}

/** Loads per layer and expert, [layers][experts], of a table or a recording. */
export async function readLoads(path: string, caseName: string | undefined): Promise<number[][]> {
  const files = traceFiles([path]);
  const text =
    files.length === 1 && /\.(json|csv|txt)$/i.test(path) ? new TextDecoder().decode(files[0].bytes) : null;
  if (text !== null && !/^\s*layer_id/.test(text)) {
    const table = parseLoadTable(text, path, caseName);
    return rowsOf(table.values, table.expertCount);
  }
  const trace = await readTrace([path], {}, undefined);
  if (trace.kind === 'balance')
    throw new UsageError(`${path}: holds balancedness only; loads per expert are needed`);
  return rowsOf(totalLoads(trace), trace.expertCount);
}

function rowsOf(values: Float64Array, expertCount: number): number[][] {
  return Array.from({ length: values.length / expertCount }, (_, layer) =>
    Array.from(values.subarray(layer * expertCount, (layer + 1) * expertCount)),
  );
}
