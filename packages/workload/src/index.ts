export { type WorkloadKindName, workloadKindOf, workloadKinds } from './kinds.js';
export { type PresetName, presets, type WorkloadPreset } from './presets.js';
export { type SkewName, skewSchema, skews } from './skew/index.js';
export type { Popularity, Skew, SkewSite } from './skew/skew.js';
export type { Workload, WorkloadContext, WorkloadKind } from './workload.js';
