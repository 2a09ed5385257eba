export { type LoadTable, parseLoadTable } from './formats/load-table.js';
export type { Importer, ImportHints, TraceFile } from './importers/importer.js';
export { detectImporter, type ImporterName, importers, importTrace } from './importers/index.js';
export { type WorkloadKindName, workloadKinds } from './kinds.js';
export { lintWorkload, type WorkloadFinding } from './lint/lint.js';
export { type LintRuleName, lintRules, type Severity } from './lint/rules.js';
export { type PresetName, presets, type WorkloadPreset } from './presets.js';
export { type SkewName, skews } from './skew/index.js';
export type { Popularity, Skew, SkewSite } from './skew/skew.js';
export {
  type BalanceTrace,
  type ChoiceTrace,
  type LoadTrace,
  type Trace,
  totalLoads,
} from './trace/trace.js';
export { decodeTrace, encodeTrace, isTraceFile } from './trace/trace-file.js';
export type { Workload, WorkloadContext, WorkloadKind } from './workload.js';
