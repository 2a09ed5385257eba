/** The registry of importers. A new format is one file here and one line below. */
import type { Trace } from '../trace/trace.js';
import { eplbWeights } from './eplb-weights.js';
import { flameMoe } from './flame-moe.js';
import type { Importer, ImportHints, TraceFile } from './importer.js';
import { routedExperts } from './routed-experts.js';
import { sglangCsv } from './sglang-csv.js';
import { sglangPerPass } from './sglang-per-pass.js';
import { sglangPerToken } from './sglang-per-token.js';
import { sglangStat } from './sglang-stat.js';
import { trtllm } from './trtllm.js';
import { vllmEplbLog } from './vllm-eplb-log.js';

export const importers = {
  'sglang-stat': sglangStat,
  'sglang-per-pass': sglangPerPass,
  'sglang-per-token': sglangPerToken,
  'sglang-csv': sglangCsv,
  trtllm,
  'routed-experts': routedExperts,
  'vllm-eplb-log': vllmEplbLog,
  'flame-moe': flameMoe,
  'eplb-weights': eplbWeights,
} as const satisfies Record<string, Importer>;

export type ImporterName = keyof typeof importers;

/** The format of some files, by their bytes and names. Throws RangeError when it is none or not the same for all. */
export function detectImporter(files: readonly TraceFile[]): ImporterName {
  if (files.length === 0) throw new RangeError('import: no files');
  const names = Object.keys(importers) as ImporterName[];
  const found = files.map((file) => names.find((name) => importers[name].detect(file)));
  const [first] = found;
  const other = found.findIndex((name) => name !== first);
  if (other >= 0 && first !== undefined && found[other] !== undefined) {
    throw new RangeError(
      `${files[0].name} is ${first}, ${files[other].name} is ${found[other]}; import one format`,
    );
  }
  const unknown = found.indexOf(undefined);
  if (unknown >= 0 || first === undefined) {
    throw new RangeError(
      `${files[Math.max(0, unknown)].name}: unknown trace format; known: ${names.join(', ')}`,
    );
  }
  return first;
}

/**
 * The trace in files of one format, which is detected when it is not named.
 * Throws RangeError with file and place for whatever cannot be read or contradicts the hints.
 */
export async function importTrace(
  files: readonly TraceFile[],
  hints: ImportHints = {},
  format: ImporterName = detectImporter(files),
): Promise<Trace> {
  return importers[format].read(files, hints);
}
