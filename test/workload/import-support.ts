/** What the tests of importers share: a trace of the kind that a test expects, and refusals. */
import { type ImportHints, importTrace, type TraceFile } from '@epsim/workload';
import { expect } from 'vitest';

export async function choices(files: TraceFile[], hints: ImportHints = {}) {
  const trace = await importTrace(files, hints);
  if (trace.kind !== 'choices') throw new Error(`a trace of ${trace.kind}`);
  return trace;
}

export async function loads(files: TraceFile[], hints: ImportHints = {}) {
  const trace = await importTrace(files, hints);
  if (trace.kind !== 'loads') throw new Error(`a trace of ${trace.kind}`);
  return trace;
}

export const refuses = async (
  files: TraceFile[],
  hints: ImportHints,
  message: string | RegExp,
): Promise<void> => {
  await expect(importTrace(files, hints)).rejects.toThrow(message);
};
